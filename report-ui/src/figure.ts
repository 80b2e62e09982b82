// A plot with its title, caption and downloads: what every section shows its pictures in.
import {h} from './dom';
import {save} from './download';
import {snapshot, type Snapshot} from './snapshot';
import {onTheme} from './theme';

export interface Figure {
  title: string;
  /// One sentence: how to read it.
  caption?: string;
  /// Of downloaded files, without ending: "returns".
  file: string;
  /// An SVG or a canvas, or what contains one; asked for again when the theme or the width changes.
  draw: (width: number) => HTMLElement | SVGElement;
  /// What colours mean, where that stands beside the figure: downloads show it too.
  key?: Element;
}

/// The figure class `wide` spans all columns of `.figures`.
export function figure({title, caption, file, draw, key}: Figure): HTMLElement {
  const plot = h('div', {class: 'plot'});
  const download = (kind: string, start: () => void) => h('button', {
    class: 'plain', type: 'button', click: start, 'aria-label': `Download "${title}" as ${kind}`,
  }, kind);
  keepDrawn(plot, draw);
  return h('figure', {},
      h('div', {class: 'figure-head'},
          h('h3', {}, title),
          h('div', {class: 'downloads control'},
              download('SVG', () => saveSvg(snapshot(plot, title, key), file)),
              download('PNG', () => savePng(snapshot(plot, title, key), file)))),
      plot,
      caption ? h('figcaption', {}, caption) : null);
}

/// No chart has room for its margins in less; CSS scales it down where the page is narrower.
const narrowest = 260;

/// Draws once the width is known, and again whenever it changes.
function keepDrawn(plot: HTMLElement, draw: Figure['draw']): void {
  let drawn = 0;
  const redraw = (width: number) => {
    drawn = width;
    if (width > 0) plot.replaceChildren(draw(width));
  };
  new ResizeObserver(() => {
    const shown = Math.floor(plot.clientWidth), width = Math.max(narrowest, shown);
    if (shown > 0 && width !== drawn) redraw(width);
  }).observe(plot);
  onTheme(() => redraw(drawn));
}

const serialised = ({svg}: Snapshot) => new Blob(
    [new XMLSerializer().serializeToString(svg)], {type: 'image/svg+xml;charset=utf-8'});

function saveSvg(picture: Snapshot, file: string): void {
  save(serialised(picture), `${file}.svg`);
}

async function savePng(picture: Snapshot, file: string): Promise<void> {
  const image = new Image();
  image.src = URL.createObjectURL(serialised(picture));
  await image.decode();
  const canvas = h('canvas', {width: 2 * picture.width, height: 2 * picture.height});
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  canvas.toBlob((png) => png && save(png, `${file}.png`));
}

// A chart as the sections on behaviour draw it: text of 12 px, and a name for those who do not see it.
import * as Plot from '@observablehq/plot';

export type Chart = SVGSVGElement & Plot.Plot;

export function chart(label: string, options: Plot.PlotOptions): Chart {
  const style = {fontSize: '12px', background: 'none', overflow: 'visible'};
  const svg = Plot.plot({...options, style}) as Chart;
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label);
  return svg;
}

/// For figure(): a drawing that can also be asked for when a control changes it.
export function redrawable(draw: (width: number) => Node) {
  const box = document.createElement('div');
  let width = 0;
  const redraw = () => {
    if (width > 0) box.replaceChildren(draw(width));
  };
  return {
    redraw,
    draw: (now: number) => {
      width = now;
      redraw();
      return box;
    },
  };
}

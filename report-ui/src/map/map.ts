// All episodes as points: looked at from several sides, coloured in several ways, selected one by
// one or by an outline.
import {h} from '../dom';
import {figure} from '../figure';
import {capital} from '../format';
import type {Model} from '../model';
import {isDark} from '../palette';
import {section} from '../section';
import {segmented} from '../segmented';
import {onTheme} from '../theme';
import {colourings, type Colouring} from './colouring';
import {episodeDetails, regionDetails, spoken} from './details';
import {handle, reset, zoomIn, zoomOut, type Tool} from './gestures';
import {colourLegend, shapeLegend} from './legend';
import {MapPlot} from './plot';
import {Points, shuffled} from './points';
import {hidden, type Paint} from './raster';
import {inside, type Outline} from './region';
import {shapeCount} from './shapes';

export function mapSection(model: Model): HTMLElement {
  return model.report.maps.length && model.n ? new EpisodeMap(model).element
    : section('map', 'Every trajectory as a point',
        h('p', {class: 'lead'}, 'This run has no scores to lay trajectories out by.'));
}

class EpisodeMap {
  readonly element: HTMLElement;
  private readonly order: Uint32Array;
  private readonly slotOf: Uint32Array;
  private readonly shape: Uint8Array | null;
  private readonly choices: Colouring[];
  private readonly views = new Map<number, Points>();
  private readonly plot: MapPlot;
  private readonly explanation = h('p', {class: 'lead'});
  private readonly legend = h('div');
  private readonly key = h('div', {class: 'map-key'}, this.legend);
  private readonly episode = h('div', {class: 'map-episode'});
  private readonly chosen = h('div', {class: 'map-region'});
  private readonly tooltip = h('div',
      {class: 'tooltip', 'aria-hidden': 'true', 'data-no-export': ''});
  private readonly ring = h('div', {class: 'ring', 'data-no-export': ''});
  private readonly voice = h('p', {class: 'visually-hidden', 'aria-live': 'polite'});
  private readonly off = new Set<number>();
  private points: Points;
  private colouring: Colouring;
  private tool: Tool = 'move';
  private stepped = -1;
  private hovered = -1;
  private selected: number | null = null;
  private region: Set<number> | null = null;

  constructor(private readonly model: Model) {
    this.order = shuffled(model.n);
    this.slotOf = new Uint32Array(model.n);
    this.order.forEach((episode, slot) => { this.slotOf[episode] = slot; });
    this.shape = model.truth && Uint8Array.from(this.order,
        (episode) => Math.max(0, model.truth![episode]) % shapeCount);
    this.key.append(...[shapeLegend(model)].filter((part) => part !== null));
    this.choices = colourings(model);
    this.colouring = this.choices[0];
    this.points = this.view(0);
    this.plot = new MapPlot(this.points, this.paint());
    this.plot.canvas.setAttribute('aria-label', 'Map of all trajectories. ' +
      'Arrow keys step from point to point, Enter selects, plus and minus zoom, 0 shows all.');
    this.plot.element.append(this.ring, this.tooltip);
    this.hover(-1);
    this.listen();
    this.element = this.build();
    this.showView(0);
    this.refreshSide();
  }

  private build(): HTMLElement {
    const {model} = this;
    const views = model.report.maps.map(({title}, value) => ({value, name: title}));
    const colours = this.choices.map((value) => ({value, name: capital(value.name)}));
    const tools: {value: Tool; name: string}[] = [
      {value: 'move', name: 'Move'}, {value: 'rectangle', name: 'Rectangle'},
      {value: 'lasso', name: 'Lasso'},
    ];
    return section('map', 'Every trajectory as a point',
        this.explanation,
        h('div', {class: 'controls'},
            views.length > 1 && labelled('View',
                segmented('View', views, 0, (view) => this.showView(view))),
            labelled('Colour', segmented('Colour', colours, this.colouring, (colouring) => {
              this.colouring = colouring;
              this.off.clear();
              this.refresh();
            })),
            labelled('Drag to', segmented('Drag to', tools, this.tool, (tool) => {
              this.tool = tool;
              this.plot.canvas.dataset.tool = tool;
            }))),
        h('div', {class: 'map'},
            figure({
              title: 'Map of all trajectories', file: 'map', key: this.key,
              caption: 'Point at a trajectory to see its numbers; click to select it for the ' +
                'whole page. The wheel zooms; shift and drag draws an outline.',
              draw: (width) => {
                this.plot.resize(width);
                return this.plot.element;
              },
            }),
            h('aside', {'aria-label': 'Legend and selection'},
                h('div', {class: 'controls'}, ...this.zoomButtons()),
                this.jump(), this.key, this.chosen, this.episode, this.voice)));
  }

  private zoomButtons(): HTMLElement[] {
    const button = (name: string, label: string, click: () => void) =>
      h('button', {type: 'button', 'aria-label': label, title: label, click}, name);
    return [
      button('+', 'Zoom in', () => zoomIn(this.plot)),
      button('−', 'Zoom out', () => zoomOut(this.plot)),
      button('Show all', 'Show all points', () => reset(this.plot)),
    ];
  }

  private jump(): HTMLElement {
    const input = h('input', {
      type: 'text', size: 10, id: 'jump', autocomplete: 'off', 'aria-describedby': 'jump-answer',
    });
    const answer = h('span', {class: 'note', id: 'jump-answer', role: 'status'});
    const submit = (event: Event) => {
      event.preventDefault();
      const episode = this.find(input.value.trim());
      answer.textContent = episode === null ? `There is no episode ${input.value.trim()}.` : '';
      if (episode !== null) this.model.select(episode);
    };
    return h('form', {class: 'controls', submit},
        h('label', {for: 'jump'}, 'Episode'), input, h('button', {type: 'submit'}, 'Go'), answer);
  }

  private find(id: string): number | null {
    const {ids} = this.model.report.episodes;
    if (ids) return ids.includes(id) ? ids.indexOf(id) : null;
    return /^\d+$/.test(id) && Number(id) < this.model.n ? Number(id) : null;
  }

  private listen(): void {
    handle(this.plot, {
      tool: () => this.tool,
      hover: (slot) => this.hover(slot),
      pick: (slot) => this.model.select(slot < 0 ? null : this.order[slot]),
      outlined: (outline) => this.select(outline),
      step: (dx, dy) => this.step(dx, dy),
      pickStepped: () => { if (this.stepped >= 0) this.model.select(this.order[this.stepped]); },
      clear: () => this.clear(),
    });
    this.plot.onDraw = () => this.hover(this.hovered);
    this.plot.canvas.addEventListener('blur', () => this.hover(-1));
    this.model.onSelect((episode) => {
      this.selected = episode;
      const slot = episode === null ? null : this.slotOf[episode];
      this.stepped = slot ?? -1;
      this.plot.mark(slot);
      if (slot !== null) this.plot.reveal(slot);
      this.refreshSide();
    });
    onTheme(() => this.refresh());
  }

  private view(index: number): Points {
    let points = this.views.get(index);
    if (!points) {
      points = new Points(this.model.report.maps[index], this.order);
      this.views.set(index, points);
    }
    return points;
  }

  private showView(index: number): void {
    this.points = this.view(index);
    this.explanation.textContent = this.points.view.explanation;
    this.region = null;
    this.hover(-1);
    this.plot.show(this.points);
    this.refresh();
  }

  private paint(): Paint {
    const {colouring, order, off, region} = this;
    const dim = colouring.classes.length;
    const style = new Uint8Array(order.length);
    for (let slot = 0; slot < order.length; ++slot) {
      const kind = colouring.kind(order[slot]);
      style[slot] = off.has(kind) ? hidden : region && !region.has(slot) ? dim : kind;
    }
    return {
      style, shape: this.shape, opacity: order.length > 20_000 ? 0.7 : 0.85,
      colours: [...colouring.colours(), isDark() ? '#2b2f35' : '#e4e5e7'],
      ground: isDark() ? '#15171a' : '#fdfdfc',
    };
  }

  private refresh(): void {
    this.plot.repaint(this.paint());
    this.refreshSide();
  }

  private refreshSide(): void {
    const {model, selected, region} = this;
    this.legend.replaceChildren(colourLegend(model, this.colouring, this.off, (kind) => {
      if (!this.off.delete(kind)) this.off.add(kind);
      this.refresh();
      const button = this.legend.querySelector<HTMLElement>(`[data-kind="${kind}"]`);
      button?.focus({preventScroll: true});
    }));
    this.episode.replaceChildren(
        ...(selected === null ? [] : [episodeDetails(model, selected)]));
    this.chosen.replaceChildren(...(region === null ? [] : [
      regionDetails(model, [...region].map((slot) => this.order[slot])),
      h('button', {type: 'button', click: () => this.clearRegion()}, 'Clear'),
    ]));
  }

  private select(outline: Outline): void {
    this.region = new Set(inside(this.points, outline, (slot) => this.plot.isShown(slot)));
    this.plot.setOutline(outline);
    this.refresh();
  }

  private clearRegion(): void {
    this.region = null;
    this.plot.setOutline([]);
    this.refresh();
  }

  private clear(): void {
    this.hover(-1);
    this.clearRegion();
    this.model.select(null);
  }

  private step(dx: number, dy: number): void {
    const {plot, stepped} = this;
    const next = stepped < 0 ? plot.nearMiddle() : plot.towards(stepped, dx, dy);
    if (next < 0) return;
    this.stepped = next;
    this.plot.reveal(next);
    this.hover(next);
    this.voice.textContent = spoken(this.model, this.order[next]);
  }

  private hover(slot: number): void {
    const shown = slot >= 0;
    if (shown && slot !== this.hovered) {
      this.tooltip.replaceChildren(episodeDetails(this.model, this.order[slot]));
    }
    this.hovered = slot;
    this.ring.hidden = !shown;
    this.tooltip.hidden = !shown;
    if (!shown) return;
    const [x, y] = this.plot.place(slot);
    const {clientWidth: width, clientHeight: height} = this.plot.element;
    this.ring.style.transform = `translate(${x}px, ${y}px)`;
    const left = x + 16 + this.tooltip.offsetWidth < width
      ? x + 16 : Math.max(0, x - 16 - this.tooltip.offsetWidth);
    const top = Math.max(0, Math.min(y - 16, height - this.tooltip.offsetHeight));
    this.tooltip.style.transform = `translate(${left}px, ${top}px)`;
  }
}

const labelled = (name: string, control: HTMLElement) =>
  h('div', {class: 'labelled'}, h('span', {class: 'note', 'aria-hidden': 'true'}, name), control);

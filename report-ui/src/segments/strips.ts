// A strip per episode, coloured by who acts: fifty of them at a time, however many there are.
import {redrawable} from '../behaviour/redrawable';
import {h} from '../dom';
import {figure} from '../figure';
import {count, counted, measure, percent} from '../format';
import {clusterName} from '../model';
import {clusterColour} from '../palette';
import {section} from '../section';
import {segmented} from '../segmented';
import {swatch} from '../swatch';
import {at, type Segment, type SegmentsModel, type Unsure} from './model';
import {label, rect, svg} from './shapes';

const perPage = 50, row = 18, thick = 10, half = 4, left = 64, right = 12, top = 4, bottom = 24;

type Order = 'file' | 'switches' | 'length' | 'unsure';

/// Which episodes come first.
function ordered(model: SegmentsModel, order: Order): Uint32Array {
  const episodes = Uint32Array.from({length: model.n}, (_, i) => i);
  const by = {
    file: null,
    switches: (i: number) => -model.switches(i),
    length: (i: number) => -model.length[i],
    unsure: (i: number) => model.leastChance(i),
  }[order];
  if (!by) return episodes;
  const keys = Float64Array.from(episodes, by);
  return episodes.sort((a, b) => keys[a] - keys[b] || a - b);
}

export class Strips {
  readonly element: HTMLElement;
  private order: Uint32Array;
  private page = 0;
  private width = 0;
  private chosen = -1;
  /// Where the pointer or the keys are: a row of the page and a step.
  private place = {row: 0, step: 0};
  private names: SVGTextElement[] = [];

  private readonly said = h('p', {class: 'now strips-said', 'aria-live': 'polite'});
  private readonly range = h('span', {class: 'muted'});
  private readonly back = this.pageButton('Back', 'Episodes before', -1);
  private readonly next = this.pageButton('Next', 'Further episodes', 1);
  private readonly drawing = redrawable((width) => this.draw(width));

  constructor(private readonly model: SegmentsModel) {
    const switching = model.report.record.result.switches > 0;
    const first: Order = switching ? 'switches' : 'file';
    this.order = ordered(model, first);
    const key = legend(model);
    const shown = figure({
      title: 'Who acts at every step', file: 'segments', draw: this.drawing.draw, key,
      caption: 'A strip is an episode.' +
        (switching ? ' Pale: where the switch lies with a chance of 90 %.' : '') +
        (model.report.record.result.unsure?.stretches
          ? ' Two colours: not sure; the lower one is who else may have acted.' : '') +
        (model.report.truth ? ' Thin line below: who truly acted.' : ''),
    });
    shown.classList.add('wide');
    this.element = h('div', {},
        h('div', {class: 'controls'},
            segmented<Order>('Order', [
              {value: 'switches', name: 'Most switches'}, {value: 'unsure', name: 'Least sure'},
              {value: 'length', name: 'Longest'}, {value: 'file', name: 'As in the file'},
            ], first, (order) => this.sort(order)),
            h('span', {class: 'pages'}, this.back, this.next, this.range)),
        key, this.said, shown);
    this.say(null);
    this.turn(0);
    model.onSelect((episode) => {
      this.chosen = episode;
      this.mark();
    });
  }

  private get episodes(): Uint32Array {
    return this.order.subarray(this.page * perPage, (this.page + 1) * perPage);
  }

  private pageButton(name: string, label: string, by: number): HTMLButtonElement {
    return h('button', {type: 'button', 'aria-label': label, click: () => this.turn(by)}, name);
  }

  private sort(order: Order): void {
    this.order = ordered(this.model, order);
    this.page = 0;
    this.turn(0);
  }

  private turn(by: number): void {
    const {n} = this.model, last = Math.max(0, Math.ceil(n / perPage) - 1);
    this.page = Math.min(last, Math.max(0, this.page + by));
    this.place = {row: 0, step: 0};
    this.back.disabled = this.page === 0;
    this.next.disabled = this.page === last;
    const from = this.page * perPage;
    this.range.textContent =
      `${count(from + 1)}–${count(from + this.episodes.length)} of ${counted(n, 'episode')}`;
    this.drawing.redraw();
  }

  private scale(): number {
    const longest = Math.max(1, ...Array.from(this.episodes, (i) => this.model.length[i]));
    return (this.width - left - right) / longest;
  }

  private draw(width: number): SVGSVGElement {
    this.width = width;
    const {episodes} = this, height = top + row * episodes.length + bottom, x = this.scale();
    const picture = svg(width, height, `Who acts at every step of ${counted(episodes.length, 'episode')}`);
    this.names = Array.from(episodes, (episode, i) =>
      label(left - 8, top + i * row + thick - 1, shortened(this.model.id(episode)), 'end'));
    picture.append(...this.names);
    this.mark();
    episodes.forEach((episode, i) => this.drawRow(picture, episode, top + i * row, x));
    drawAxis(picture, width, height - bottom, x);
    picture.tabIndex = 0;
    picture.setAttribute('class', 'strips');
    picture.setAttribute('aria-roledescription',
        'Strips. Up and down choose an episode, left and right a segment, Enter opens it.');
    picture.addEventListener('pointermove', (event) => this.point(event, picture));
    picture.addEventListener('pointerleave', () => this.say(null));
    picture.addEventListener('click', (event) => {
      if (this.point(event, picture)) this.model.select(episodes[this.place.row]);
    });
    picture.addEventListener('keydown', (event) => this.key(event));
    picture.addEventListener('focus', () => this.say(this.place));
    return picture;
  }

  private drawRow(picture: SVGSVGElement, episode: number, y: number, x: number): void {
    const {model} = this;
    for (const {begin, end, policy} of model.segments(episode)) {
      picture.append(rect(left + begin * x, y, (end - begin) * x, thick, clusterColour(policy)));
    }
    for (const stretch of model.unsure(episode)) {
      for (const part of model.segments(episode)) {
        const from = Math.max(part.begin, stretch.begin), to = Math.min(part.end, stretch.end);
        const other = stretch.candidates.find((one) => one.policy !== part.policy);
        if (from >= to || !other) continue;
        picture.append(rect(left + from * x, y + thick - half, (to - from) * x, half,
            clusterColour(other.policy)));
      }
    }
    for (const {begin, earliest, latest} of model.segments(episode)) {
      if (begin === 0) continue;
      const from = Math.min(earliest, begin), wide = Math.max(2, (latest - from) * x);
      const pale = rect(left + from * x, y, wide, thick, 'var(--ground)');
      pale.setAttribute('fill-opacity', '0.6');
      picture.append(pale, rect(left + begin * x - 0.5, y - 1, 1, thick + 2, 'var(--text)'));
    }
    for (const {begin, end, policy} of model.truth(episode) ?? []) {
      const match = policy < 0 ? -1 : model.report.truth!.match[policy];
      picture.append(rect(left + begin * x, y + thick + 1.5, (end - begin) * x, 2.5,
          match < 0 ? 'var(--faint)' : clusterColour(match)));
    }
  }

  /// The name of the episode that is looked at is bold, that of the one pointed at underlined.
  private mark(pointed = -1): void {
    this.names.forEach((name, i) => {
      name.setAttribute('font-weight', this.episodes[i] === this.chosen ? '700' : '400');
      name.setAttribute('text-decoration', i === pointed ? 'underline' : 'none');
    });
  }

  /// Whether there is a step below the pointer; says which.
  private point(event: MouseEvent, picture: SVGSVGElement): boolean {
    const box = picture.getBoundingClientRect(), shrunk = this.width / Math.max(1, box.width);
    const line = Math.floor(((event.clientY - box.top) * shrunk - top) / row);
    const step = Math.floor(((event.clientX - box.left) * shrunk - left) / this.scale());
    const episode = this.episodes[line];
    const inside = episode !== undefined && step < this.model.length[episode];
    if (inside) this.place = {row: line, step: Math.max(0, step)};
    this.say(inside ? this.place : null);
    return inside;
  }

  private key(event: KeyboardEvent): void {
    const {model, place} = this, episode = this.episodes[place.row];
    const segments = model.segments(episode), now = segments.indexOf(at(segments, place.step));
    const go = (line: number, step: number) => { this.place = {row: line, step}; };
    const act = {
      ArrowUp: () => go(Math.max(0, place.row - 1), 0),
      ArrowDown: () => go(Math.min(this.episodes.length - 1, place.row + 1), 0),
      ArrowLeft: () => go(place.row, segments[Math.max(0, now - 1)].begin),
      ArrowRight: () => go(place.row, segments[Math.min(segments.length - 1, now + 1)].begin),
      Enter: () => model.select(episode),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
    this.say(this.place);
  }

  private say(place: {row: number; step: number} | null): void {
    this.mark(place?.row);
    if (!place) {
      this.said.replaceChildren(h('span', {class: 'muted'},
          `Point at a strip to see who acts${this.model.k > 1 ? '; click it to see why' : ''}.`));
      return;
    }
    const {model} = this, episode = this.episodes[place.row];
    const segment = at(model.segments(episode), place.step);
    this.said.replaceChildren(
        h('strong', {}, `Episode ${model.id(episode)}, step ${count(place.step + 1)} of ` +
          `${count(model.length[episode])}. `),
        swatch(segment.policy), segmentWords(segment),
        ...unsureWords(model.unsure(episode), segment.policy, place.step));
  }
}

/// "Policy 1, steps 241 to 600, posterior 0.98; it took over at step 236 to 244."
export function segmentWords(segment: Segment): string {
  const {begin, end, policy, chance} = segment;
  const taken = begin > 0 ? `; it took over at ${takeover(segment)}` : '';
  return `${clusterName(policy)}, steps ${count(begin + 1)} to ${count(end)}, posterior ` +
    `${measure(chance)}${taken}.`;
}

/// " Not sure: in steps 251 to 260 it may also be Policy 2 (31%)."
export function unsureWords(unsure: Unsure[], named: number, step: number): string[] {
  const stretch = unsure.find(({begin, end}) => begin <= step && step < end);
  const others = stretch?.candidates.filter(({policy}) => policy !== named) ?? [];
  if (!stretch || !others.length) return [];
  const who = others.map(({policy, chance}) => `${clusterName(policy)} (${percent(chance)})`);
  const when = stretch.end - stretch.begin === 1 ? `at step ${count(stretch.end)}`
    : `in steps ${count(stretch.begin + 1)} to ${count(stretch.end)}`;
  return [` Not sure: ${when} it may also be ${who.join(' or ')}.`];
}

/// Its first step, as an interval.
export function takeover({earliest, latest}: Segment): string {
  return earliest === latest ? `step ${count(latest + 1)}`
    : `step ${count(earliest + 1)} to ${count(latest + 1)}`;
}

const shortened = (id: string) => id.length > 8 ? `…${id.slice(-7)}` : id;

function drawAxis(picture: SVGSVGElement, width: number, y: number, x: number): void {
  const steps = (width - left - right) / x, room = Math.max(2, width / 90);
  const size = [1, 2, 5].flatMap((one) => [1, 10, 100, 1e3, 1e4, 1e5, 1e6].map((ten) => one * ten))
      .sort((a, b) => a - b).find((one) => steps / one <= room) ?? 1e7;
  for (let tick = 0; tick <= steps; tick += size) {
    picture.append(rect(left + tick * x, y, 1, 4, 'var(--faint)'),
        label(left + tick * x, y + 17, tick === 0 ? 'step 0' : count(tick), 'middle'));
  }
}

function legend(model: SegmentsModel): HTMLElement {
  return h('ul', {class: 'strips-key', 'aria-label': 'Colours'},
      ...Array.from({length: model.k}, (_, policy) =>
        h('li', {}, swatch(policy), clusterName(policy))));
}

export function stripsSection(model: SegmentsModel): HTMLElement {
  return section('strips', 'Who acted when',
      h('p', {class: 'lead'}, 'Every episode from its first step to its last, in the colour of who acts.'),
      new Strips(model).element);
}

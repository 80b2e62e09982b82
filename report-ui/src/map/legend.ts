// What colours and shapes mean; pressing an entry hides or shows its episodes.
import {truthCount} from '../contingency';
import {h} from '../dom';
import {count} from '../format';
import type {Model} from '../model';
import type {Colouring} from './colouring';
import {shapeCount, shapeIcon} from './shapes';

export function colourLegend(
    model: Model, colouring: Colouring, off: Set<number>, toggle: (kind: number) => void,
): HTMLElement {
  const sizes = new Array<number>(colouring.classes.length).fill(0);
  for (let episode = 0; episode < model.n; ++episode) ++sizes[colouring.kind(episode)];
  const colours = colouring.colours();
  const isTruth = colouring.name === 'true policy';
  const entry = (name: string, kind: number) => h('li', {'data-no-export': off.has(kind)},
      h('button', {
        class: 'plain', type: 'button', 'aria-pressed': String(!off.has(kind)),
        'data-kind': kind, title: 'Hide or show', click: () => toggle(kind),
      },
      shapeIcon(isTruth ? kind : 0, colours[kind]),
      h('span', {class: 'legend-name'}, name),
      h('span', {class: 'muted'}, count(sizes[kind]))));
  return h('div', {class: 'legend'},
      h('h3', {}, `Colour: ${colouring.name}`),
      h('ul', {}, ...colouring.classes.map((name, kind) => sizes[kind] > 0 && entry(name, kind))));
}

/// More would push everything else off the screen.
const mostNamed = 14;

export function shapeLegend(model: Model): HTMLElement | null {
  if (!model.truth) return null;
  const all = truthCount(model);
  const names = Array.from({length: Math.min(mostNamed, all)}, (_, truth) => model.truthName(truth));
  const note = all > mostNamed ? `and ${all - mostNamed} more, in the same shapes`
    : all > shapeCount ? 'Shapes repeat: colours tell those apart.' : null;
  return h('div', {class: 'legend'},
      h('h3', {}, 'Shape: true policy'),
      h('ul', {}, ...names.map((name, truth) =>
        h('li', {class: 'plain-entry'}, shapeIcon(truth, 'var(--muted)'), name))),
      note && h('p', {class: 'note'}, note));
}

// NMI as a bar, the oracle's as a tick and what chance would give as a paler bar, from 0 to 1.
import * as Plot from '@observablehq/plot';
import {chart} from './chart';
import {measure} from './format';

type Known = number | null | undefined;

export function bullet(nmi: number, oracle: Known, width: number, chance?: Known): Element {
  const label = [`NMI ${measure(nmi)}`, chance != null && `chance ${measure(chance)}`,
    oracle != null && `oracle ${measure(oracle)}`].filter(Boolean).join(', ');
  return chart(label, {
    width, height: 40, marginLeft: 4, marginRight: 12, marginTop: 2, marginBottom: 22,
    x: {domain: [0, 1], ticks: [0, 0.5, 1], tickSize: 3, tickFormat: String, label: null},
    y: {axis: null},
    marks: [
      Plot.barX([1], {x1: 0, x2: 1, y: 0, fill: 'var(--low)'}),
      chance == null ? null : Plot.barX([chance], {x1: 0, x2: chance, y: 0, fill: 'var(--faint)'}),
      Plot.barX([nmi], {x1: 0, x2: nmi, y: 0, fill: 'var(--text)', insetTop: 4, insetBottom: 4}),
      oracle == null ? null
        : Plot.tickX([oracle], {x: oracle, y: 0, stroke: 'var(--accent)', strokeWidth: 3}),
    ],
  });
}

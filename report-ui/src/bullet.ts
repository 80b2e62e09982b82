// NMI as a bar and the oracle's as a tick, on a scale from 0 to 1.
import * as Plot from '@observablehq/plot';
import {chart} from './chart';
import {measure} from './format';

export function bullet(nmi: number, oracle: number | null | undefined, width: number): Element {
  const label = oracle == null
    ? `NMI ${measure(nmi)}` : `NMI ${measure(nmi)}, oracle ${measure(oracle)}`;
  return chart(label, {
    width, height: 40, marginLeft: 4, marginRight: 12, marginTop: 2, marginBottom: 22,
    x: {domain: [0, 1], ticks: [0, 0.5, 1], tickSize: 3, tickFormat: String, label: null},
    y: {axis: null},
    marks: [
      Plot.barX([1], {x1: 0, x2: 1, y: 0, fill: 'var(--low)'}),
      Plot.barX([nmi], {x1: 0, x2: nmi, y: 0, fill: 'var(--text)', insetTop: 4, insetBottom: 4}),
      oracle == null ? null
        : Plot.tickX([oracle], {x: oracle, y: 0, stroke: 'var(--accent)', strokeWidth: 3}),
    ],
  });
}

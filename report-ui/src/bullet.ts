// NMI as a bar and its ceiling as a tick, on a scale from 0 to 1.
import * as Plot from '@observablehq/plot';
import {measure} from './format';

export function bullet(nmi: number, ceiling: number | null | undefined, width: number): Element {
  const label = ceiling == null
    ? `NMI ${measure(nmi)}` : `NMI ${measure(nmi)}, ceiling ${measure(ceiling)}`;
  const svg = Plot.plot({
    width, height: 40, marginLeft: 1, marginRight: 12, marginTop: 2, marginBottom: 22,
    style: {fontSize: '12px'},
    x: {domain: [0, 1], ticks: [0, 0.5, 1], tickSize: 3, label: null},
    y: {axis: null},
    marks: [
      Plot.barX([1], {x1: 0, x2: 1, y: 0, fill: 'var(--low)'}),
      Plot.barX([nmi], {x1: 0, x2: nmi, y: 0, fill: 'var(--text)', insetTop: 4, insetBottom: 4}),
      ceiling == null ? null
        : Plot.tickX([ceiling], {x: ceiling, y: 0, stroke: 'var(--accent)', strokeWidth: 3}),
    ],
  });
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label);
  return svg;
}

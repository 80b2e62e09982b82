// A plane with x and y at the same scale, for routes and forces.
import * as Plot from '@observablehq/plot';
import {chart} from '../chart';

export interface Plane {
  label: string;
  width: number;
  /// Low and high of x and of y.
  range: [number, number, number, number];
  axes?: [string, string];
  marks: Plot.Markish[];
}

const margin = {top: 22, right: 8, bottom: 34, left: 40};

export function plane({label, width, range, axes = ['x', 'y'], marks}: Plane): SVGSVGElement {
  const [left, right, bottom, top] = padded(range);
  const inner = width - margin.left - margin.right;
  const height = Math.min(1.4, Math.max(0.4, (top - bottom) / (right - left))) * inner;
  return chart(label, {
    width, height: Math.round(height) + margin.top + margin.bottom,
    marginTop: margin.top, marginRight: margin.right,
    marginBottom: margin.bottom, marginLeft: margin.left,
    x: {
      domain: [left, right], label: axes[0], labelAnchor: 'center', labelArrow: 'none', tickSize: 3,
      ticks: Math.max(2, Math.round(inner / 60)),
    },
    y: {
      domain: [bottom, top], label: axes[1], labelArrow: 'none', tickSize: 3,
      ticks: Math.max(2, Math.round(height / 50)),
    },
    length: {type: 'identity'}, opacity: {type: 'identity'}, color: {type: 'identity'},
    marks: [Plot.frame({stroke: 'var(--line)'}), ...marks],
  });
}

function padded([left, right, bottom, top]: Plane['range']): Plane['range'] {
  const x = 0.04 * (right - left) || 1, y = 0.04 * (top - bottom) || 1;
  return [left - x, right + x, bottom - y, top + y];
}

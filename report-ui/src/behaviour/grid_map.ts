// A gridworld drawn from above: floor, walls, goal and objects, under marks of the caller.
import * as Plot from '@observablehq/plot';
import {chart} from '../chart';
import type {Bounds, Layout, Place} from './grid_layout';

export interface Scenery {
  walls: Place[];
  goal: Place | null;
  /// What lies there, by kind.
  objects: (Place & {kind: number})[];
}

export interface GridMap {
  label: string;
  width: number;
  bounds: Bounds;
  axes: Layout['axes'];
  scenery: Scenery;
  /// Asked for the marks once the size of a cell in pixels is known.
  marks: (cell: number) => Plot.Markish[];
  /// Drawn above goal and objects.
  over?: (cell: number) => Plot.Markish[];
}

const margin = {top: 22, right: 2, bottom: 34, left: 28};
const half = 0.5;

export const square = {
  x1: (p: Place) => p.x - half, x2: (p: Place) => p.x + half,
  y1: (p: Place) => p.y - half, y2: (p: Place) => p.y + half,
};

export function gridMap(map: GridMap): SVGSVGElement {
  const {label, width, bounds, axes, scenery, marks, over} = map;
  const columns = bounds.x[1] - bounds.x[0] + 1, rows = bounds.y[1] - bounds.y[0] + 1;
  const cell = (width - margin.left - margin.right) / columns;
  return chart(label, {
    width, height: Math.round(cell * rows) + margin.top + margin.bottom,
    marginTop: margin.top, marginRight: margin.right,
    marginBottom: margin.bottom, marginLeft: margin.left,
    x: {domain: [bounds.x[0] - half, bounds.x[1] + half]},
    y: {domain: [bounds.y[0] - half, bounds.y[1] + half], reverse: true},
    length: {type: 'identity'}, opacity: {type: 'identity'}, r: {type: 'identity'},
    marks: [
      Plot.frame({fill: 'var(--floor)', stroke: 'var(--line)'}),
      Plot.rect(scenery.walls, {...square, fill: 'var(--wall)', inset: -0.5}),
      ...marks(cell),
      signs(scenery, cell),
      over?.(cell) ?? [],
      Plot.axisX(ticks(bounds.x, cell), {
        tickSize: 0, label: axes.x, labelAnchor: 'center', labelArrow: 'none', tickFormat: 'd',
      }),
      Plot.axisY(ticks(bounds.y, cell), {
        tickSize: 0, label: axes.y, labelArrow: 'none', tickFormat: 'd',
      }),
    ],
  });
}

/// Goal and objects: signs with an outline, so that they show on any heat.
function signs({goal, objects}: Scenery, cell: number): Plot.Markish[] {
  const outline = {
    stroke: 'var(--ground)', strokeWidth: 1.5, strokeLinejoin: 'round',
  } as const;
  return [
    Plot.dot(goal ? [goal] : [], {
      x: 'x', y: 'y', symbol: 'star', r: cell * 0.3, fill: 'currentColor', ...outline,
    }),
    Plot.dot(objects, {
      x: 'x', y: 'y', r: Math.max(8, cell * 0.34), fill: 'var(--ground)', stroke: 'currentColor',
    }),
    Plot.text(objects, {x: 'x', y: 'y', text: (o) => String(o.kind), fill: 'currentColor'}),
  ];
}

/// Whole numbers, as many as have room.
function ticks([low, high]: [number, number], cell: number): number[] {
  const step = [1, 2, 4, 5, 10, 20].find((size) => size * cell >= 22) ?? 40;
  const all = Array.from({length: high - low + 1}, (_, i) => low + i);
  return all.filter((value) => value % step === 0);
}

// What lies over the points as vectors: axes, the corners of the simplex, the selected episode and
// the outline being drawn.
import * as Plot from '@observablehq/plot';
import {clusterName} from '../model';
import {clusterColour} from '../palette';
import type {MapView} from '../record';
import type {Outline} from './region';
import type {Size, Viewport} from './viewport';

export interface Marks {
  selected: [number, number] | null;
  outline: Outline;
}

export function overlay(view: MapView, viewport: Viewport, {width, height}: Size,
    {selected, outline}: Marks): Element {
  const {left, right, top, bottom} = viewport.margin;
  const x = (value: number) => view.x.low + value * (view.x.high - view.x.low);
  const y = (value: number) => view.y.low + value * (view.y.high - view.y.low);
  const labelled = view.x.label !== null || view.y.label !== null;
  const ring = (stroke: string, strokeWidth: number) =>
    Plot.dot(selected ? [selected] : [], {
      x: (d) => x(d[0]), y: (d) => y(d[1]), r: 8, stroke, strokeWidth, clip: true,
    });
  const svg = Plot.plot({
    width, height, marginLeft: left, marginRight: right, marginTop: top, marginBottom: bottom,
    style: {fontSize: '12px'},
    x: {
      domain: [x(viewport.valueX(left)), x(viewport.valueX(width - right))],
      label: view.x.label, axis: labelled ? 'bottom' : null, nice: false,
    },
    y: {
      domain: [y(viewport.valueY(height - bottom)), y(viewport.valueY(top))],
      label: view.y.label, axis: labelled ? 'left' : null, nice: false,
      ticks: Math.round(height / 60),
    },
    marks: [
      ...corners(view),
      Plot.line(outline.length ? [...outline, outline[0]] : [], {
        x: (d) => x(d[0]), y: (d) => y(d[1]), stroke: 'var(--text)', strokeDasharray: '4 3',
        clip: true,
      }),
      ring('var(--ground)', 6),
      ring('var(--text)', 2.5),
    ],
  });
  svg.setAttribute('aria-hidden', 'true');
  return svg;
}

interface Corner {
  x: number;
  y: number;
  cluster: number;
}

function corners(view: MapView): Plot.Markish[] {
  if (!view.corners?.length) return [];
  const places: Corner[] = view.corners.map((corner, cluster) => ({...corner, cluster}));
  const mean = (values: number[]) => values.reduce((a, b) => a + b) / values.length;
  const centre = mean(places.map(({x}) => x)), middle = mean(places.map(({y}) => y));
  const angle = ({x, y}: Corner) => Math.atan2(y - middle, x - centre);
  const around = [...places].sort((a, b) => angle(a) - angle(b));
  const label = (above: boolean) => Plot.text(
      places.filter((corner) => (corner.y >= middle) === above), {
        x: 'x', y: 'y', dy: above ? -12 : 12, text: (d: Corner) => clusterName(d.cluster),
        fontWeight: 600, fill: 'var(--text)', stroke: 'var(--ground)', strokeWidth: 4,
      });
  return [
    Plot.line([...around, around[0]], {x: 'x', y: 'y', stroke: 'var(--faint)', strokeWidth: 1}),
    Plot.dot(places, {
      x: 'x', y: 'y', r: 5, fill: (d: Corner) => clusterColour(d.cluster), stroke: 'var(--ground)',
    }),
    label(true), label(false),
  ];
}

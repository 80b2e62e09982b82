// Trajectories that no deterministic policy made both of: whether clusters hold any, and a picture.
import * as Plot from '@observablehq/plot';
import {chart} from '../chart';
import {figure} from '../figure';
import {count, counted} from '../format';
import {clusterName, type Model} from '../model';
import {clusterColour} from '../palette';
import type {Conflicts} from '../record';

const many = 0.01;  // of the trajectories: policies then draw their actions
const gap = 1.5;    // places between two clusters

/// What conflicts prove, which is nothing where policies draw their actions.
export function conflictsSentences({report: {conflicts}, k}: Model): string[] {
  if (!conflicts) return [];
  const {contradict, episodes} = conflicts;
  if (contradict > many * episodes) {
    return [`${counted(contradict, 'trajectory', 'trajectories')} of ${count(episodes)} take two actions in one ` +
      'same state: their policies draw their actions, or see more than is recorded, so that conflicts ' +
      'between trajectories prove nothing here.'];
  }
  if (!conflicts.conflicts) return [];
  return [conflicts.conclusion, inside(conflicts), ...settled(conflicts, k)];
}

function inside({inside: clusters, conflicts}: Conflicts): string {
  const pairs = clusters.reduce((sum, cluster) => sum + cluster.conflicts, 0);
  const held = clusters.filter((cluster) => cluster.conflicts > 0);
  if (!held.length) {
    return 'Within no cluster do two trajectories act differently in one same state: each can be one ' +
      'deterministic policy.';
  }
  return `Of ${counted(conflicts, 'pair')} that act differently in one same state, ${count(pairs)} are within a ` +
    `cluster (${held.map(({label}) => clusterName(label)).join(', ')}): if policies are deterministic, ` +
    'something there is of another one.';
}

function settled({forced, at_least: least, at_most: most, episodes, parts}: Conflicts, k: number): string[] {
  if (least !== most || most !== k || !forced) return [];
  return [`Whoever divides them among ${k} deterministic policies divides ${count(forced)} of ${
    count(episodes)} in one and the same way${parts > 1
    ? `, within each of ${count(parts)} parts that no conflict joins: which policies of two parts are ` +
      'one and the same, conflicts cannot tell' : ''}.`];
}

export function conflictsFigure(model: Model): HTMLElement | null {
  const conflicts = model.report.conflicts;
  if (!conflicts?.conflicts || !conflicts.drawn.edges.length) return null;
  return figure({
    title: 'Who cannot be of one deterministic policy', file: 'conflicts',
    caption: `${count(conflicts.drawn.episodes.length)} of the trajectories, coloured by cluster. A line ` +
      'joins two that act differently in one same state; it is dark where both are of one cluster.',
    draw: (width) => circle(model, conflicts, Math.min(width, 460)),
  });
}

interface Point {
  episode: number;
  cluster: number;
  x: number;
  y: number;
}

function circle(model: Model, {drawn}: Conflicts, width: number): SVGSVGElement {
  const points = places(model, drawn.episodes);
  const line = (within: boolean) => {
    const edges = drawn.edges.filter(([a, b]) => (points[a].cluster === points[b].cluster) === within);
    return Plot.link(edges, {
      x1: ([a]: [number, number]) => points[a].x, y1: ([a]: [number, number]) => points[a].y,
      x2: ([, b]: [number, number]) => points[b].x, y2: ([, b]: [number, number]) => points[b].y,
      stroke: within ? 'var(--text)' : 'var(--muted)', strokeOpacity: within || drawn.edges.length < 60 ? 0.9 : 0.4,
      strokeWidth: within ? 1.6 : 0.8,
    });
  };
  return chart('Conflicts between trajectories', {
    width, height: width, marginLeft: 12, marginRight: 12, marginTop: 12, marginBottom: 12,
    x: {axis: null, domain: [-1, 1]}, y: {axis: null, domain: [-1, 1]},
    marks: [line(false), line(true), Plot.dot(points, {
      x: 'x', y: 'y', r: points.length > 30 ? 4.5 : 7, fill: (point: Point) => clusterColour(point.cluster),
      title: (point: Point) => `${model.id(point.episode)}, ${clusterName(point.cluster)}`,
    })],
  });
}

/// Around the circle, cluster by cluster.
function places(model: Model, episodes: number[]): Point[] {
  const order = episodes.map((_, i) => i)
      .sort((a, b) => model.label[episodes[a]] - model.label[episodes[b]] || a - b);
  const points = new Array<Point>(episodes.length);
  const clusters = new Set(episodes.map((episode) => model.label[episode])).size;
  const whole = episodes.length + gap * clusters;
  let next = 0, last = -1;
  for (const i of order) {
    const cluster = model.label[episodes[i]];
    if (last >= 0 && cluster !== last) next += gap;
    last = cluster;
    const angle = 2 * Math.PI * next++ / whole;
    points[i] = {episode: episodes[i], cluster, x: Math.sin(angle), y: Math.cos(angle)};
  }
  return points;
}

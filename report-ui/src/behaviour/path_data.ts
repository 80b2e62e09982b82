// Policies that move in the plane: their bins, their routes, and sentences about both.
import {number, percent} from '../format';
import {clusterName} from '../model';
import type {PathBehaviour} from '../record';
import {lasting, type Members} from './members';
import {words, type Words} from './words';

type Point = [number, number];

export interface Bin {
  x: number;
  y: number;
  visits: number;
  share: number;
  action: Point;
}

/// Fewer steps than this say little about what a policy does in a bin.
const fewest = 3;

export function bins(path: PathBehaviour, cluster: number): Bin[] {
  const {visits, actions} = path.clusters[cluster];
  const [left, right, bottom, top] = path.range, n = path.bins;
  const all = visits.reduce((sum, steps) => sum + steps, 0);
  return visits.map((steps, i): Bin => ({
    x: left + (i % n + 0.5) * (right - left) / n,
    y: bottom + (Math.floor(i / n) + 0.5) * (top - bottom) / n,
    visits: steps, share: all ? steps / all : 0, action: [actions[2 * i], actions[2 * i + 1]],
  })).filter((bin) => bin.visits >= fewest);
}

export const size = ([x, y]: Point): number => Math.hypot(x, y);
/// Clockwise from upwards, in degrees: what Plot turns by.
export const turn = ([x, y]: Point): number => Math.atan2(x, y) * 180 / Math.PI;

export interface Parting {
  x: number;
  y: number;
  a: Point;
  b: Point;
  gap: number;
  share: number;
}

/// Of every bin both visited: how far apart their mean actions are.
export function partings(path: PathBehaviour, a: number, b: number): Parting[] {
  const there = new Map(bins(path, b).map((bin) => [`${bin.x} ${bin.y}`, bin]));
  return bins(path, a).flatMap((here) => {
    const other = there.get(`${here.x} ${here.y}`);
    return other ? [{
      x: here.x, y: here.y, a: here.action, b: other.action,
      gap: size([here.action[0] - other.action[0], here.action[1] - other.action[1]]),
      share: Math.min(here.share, other.share),
    }] : [];
  });
}

export function furthestApart(path: PathBehaviour): [number, number] {
  let best: [number, number] = [0, Math.min(1, path.clusters.length - 1)], most = -1;
  for (let a = 0; a < path.clusters.length; ++a) {
    for (let b = a + 1; b < path.clusters.length; ++b) {
      const gap = partings(path, a, b).reduce((sum, p) => sum + p.gap * p.share, 0);
      if (gap > most) [best, most] = [[a, b], gap];
    }
  }
  return best;
}

export function pathWords(path: PathBehaviour, all: Members[]): Words[] {
  return all.map((members) => {
    const route = path.clusters[members.cluster].mean_route;
    if (!members.episodes || route.length < 2) return words(['has too few steps to describe']);
    const way = halfway(route);
    return words([way, bend(route), lasting(members), force(path, members.cluster)], way);
  });
}

/// How far it has come in x and in y when half of its way is behind it.
function halfway(route: Point[]): string {
  const [start, middle, end] = [route[0], route[along(route, 0.5)], route[route.length - 1]];
  const done = (i: 0 | 1) => (Math.abs(end[i] - start[i]) > 1e-6
    ? (middle[i] - start[i]) / (end[i] - start[i]) : NaN);
  const [x, y] = [done(0), done(1)];
  if (!Number.isFinite(x) || !Number.isFinite(y)) return `is at ${place(middle)} halfway`;
  const way = Math.abs(x - y) < 0.15 ? 'straight' : x > y ? 'along x first' : 'along y first';
  return `goes ${way}: halfway it has come ${percent(x)} in x and ${percent(y)} in y`;
}

/// The point of a route at a share of its length.
export function along(route: Point[], share: number): number {
  const lengths = [0];
  for (let i = 1; i < route.length; ++i) {
    const [from, to] = [route[i - 1], route[i]];
    lengths.push(lengths[i - 1] + size([to[0] - from[0], to[1] - from[1]]));
  }
  const all = lengths[lengths.length - 1];
  return all ? lengths.findIndex((length) => length >= share * all) : 0;
}

/// The largest distance of the mean route from the line between its ends.
function bend(route: Point[]): string {
  const [start, end] = [route[0], route[route.length - 1]];
  const way: Point = [end[0] - start[0], end[1] - start[1]], length = size(way);
  let most = 0, at = start;
  for (const point of route) {
    const off = length ? Math.abs(way[0] * (point[1] - start[1]) - way[1] * (point[0] - start[0]))
      / length : size([point[0] - start[0], point[1] - start[1]]);
    if (off > most) [most, at] = [off, point];
  }
  return `its mean route is at most ${number(Number(most.toPrecision(2)))} off the straight line, `
    + `at ${place(at)}`;
}

function force(path: PathBehaviour, cluster: number): string {
  const found = bins(path, cluster);
  const mean = found.reduce((sum, bin) => sum + bin.share * size(bin.action), 0);
  return `its actions, averaged by place, have size ${number(Number(mean.toPrecision(2)))}`;
}

export function place([x, y]: number[]): string {
  return `(${number(Number(x.toFixed(2)))}, ${number(Number(y.toFixed(2)))})`;
}

export function partingWords(found: Parting[], a: number, b: number): string[] {
  const both = `${clusterName(a)} and ${clusterName(b)}`;
  if (!found.length) return [`${both} have no place in common.`];
  const widest = Math.max(...found.map((p) => p.gap));
  const most = found.filter((p) => p.gap >= 0.4 * widest)
      .sort((p, q) => q.gap * Math.sqrt(q.share) - p.gap * Math.sqrt(p.share));
  return [
    `${both} have ${found.length} places in common.`,
    ...most.slice(0, 2).map((p) => `Near ${place([p.x, p.y])}, ${clusterName(a)} pushes `
      + `${direction(p.a)}, ${clusterName(b)} ${direction(p.b)}.`),
  ];
}

function direction(action: Point): string {
  const names = ['up', 'up and right', 'right', 'down and right', 'down', 'down and left', 'left',
    'up and left'];
  const name = names[Math.round(((turn(action) + 360) % 360) / 45) % 8];
  return `${name} (${number(Number(action[0].toPrecision(2)))} in x, `
    + `${number(Number(action[1].toPrecision(2)))} in y)`;
}

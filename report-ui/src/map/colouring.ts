// What colours mean: the policy found, the true one, or a number in up to seven classes with about
// as many episodes in each.
import type {Numbers} from '../column';
import {contingency, truthCount} from '../contingency';
import {number} from '../format';
import {clusterName, type Model} from '../model';
import {clusterHex, isDark} from '../palette';

export interface Colouring {
  name: string;
  /// By episode: index of the class.
  kind: (episode: number) => number;
  classes: string[];
  /// One colour per class, in the current theme.
  colours: () => string[];
  /// Drawn from the reader's palette of policies; else from light to dark.
  categories: boolean;
}

const lightRamp = ['#b5cfea', '#8db4dc', '#6899cb', '#4a7fb8', '#31669f', '#1d4c81', '#0b3360'];
const darkRamp = ['#34557f', '#456c9b', '#5984b7', '#739dcd', '#92b6df', '#b6d0ee', '#e0ecfa'];
const most = lightRamp.length;

export function colourings(model: Model): Colouring[] {
  const found: Colouring[] = [{
    name: 'policy', categories: true,
    kind: (episode) => model.label[episode],
    classes: Array.from({length: model.k}, (_, cluster) => clusterName(cluster)),
    colours: () => Array.from({length: model.k}, (_, cluster) => clusterHex(cluster)),
  }];
  if (model.truth) found.push(byTruth(model, model.truth));
  const numbers: [string, Numbers | null][] =
    [['margin', model.margin], ['return', model.returns], ['length', model.length]];
  for (const [name, values] of numbers) {
    const colouring = values && byNumber(name, values);
    if (colouring) found.push(colouring);
  }
  return found;
}

/// By true policy: the cluster whose colour it has.
export function truthColours(model: Model, truth: Numbers): number[] {
  const names = truthCount(model);
  return matched(contingency(model.label, truth, model.k, names), names);
}

function byTruth(model: Model, truth: Numbers): Colouring {
  const names = truthCount(model), colour = truthColours(model, truth);
  return {
    name: 'true policy', categories: true,
    kind: (episode) => truth[episode] < 0 ? names : truth[episode],
    classes: [...Array.from({length: names}, (_, i) => model.truthName(i)), 'unknown'],
    colours: () => [...colour.map(clusterHex), grey()],
  };
}

/// Gives true policies the colours of the clusters they mostly are, so that only what differs
/// changes colour.
function matched(counts: number[][], columns: number): number[] {
  const pairs = counts.flatMap((row, cluster) => row.map((n, truth) => ({n, cluster, truth})));
  pairs.sort((a, b) => b.n - a.n);
  const colour = new Array<number>(columns).fill(-1), used = new Set<number>();
  for (const {cluster, truth} of pairs) {
    if (colour[truth] >= 0 || used.has(cluster)) continue;
    colour[truth] = cluster;
    used.add(cluster);
  }
  let free = counts.length;
  return colour.map((cluster) => cluster >= 0 ? cluster : free++);
}

const grey = () => isDark() ? '#6d727b' : '#9a9ea6';

/// Null where all are the same.
function byNumber(name: string, values: Numbers): Colouring | null {
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  const last = sorted.length - 1;
  if (last < 0 || sorted[0] === sorted[last]) return null;
  const edges: number[] = [];
  for (let i = 1; i < most; ++i) {
    const edge = sorted[Math.round(i / most * last)];
    if (edge > (edges[edges.length - 1] ?? sorted[0])) edges.push(edge);
  }
  const ends = [sorted[0], ...edges, sorted[last]], unknown = edges.length + 1;
  return {
    name, categories: false,
    kind: (episode) => Number.isNaN(values[episode]) ? unknown : above(edges, values[episode]),
    classes: [...ends.slice(1).map((end, i) => `${number(ends[i])} to ${number(end)}`), 'unknown'],
    colours: () => [...steps(unknown), grey()],
  };
}

function above(edges: number[], value: number): number {
  let i = 0;
  while (i < edges.length && value >= edges[i]) ++i;
  return i;
}

function steps(n: number): string[] {
  const ramp = isDark() ? darkRamp : lightRamp;
  return Array.from({length: n}, (_, i) => ramp[Math.round(i * (most - 1) / (n - 1 || 1))]);
}

// Where a grid's clusters are and what they do there: shares of counts, cell by cell.
import {sum} from '../contingency';
import type {GridBehaviour} from '../record';

export type Context = GridBehaviour['contexts'][number];
type Counts = Context['clusters'][number];

/// How often each action was taken in a cell, as shares; null where the cluster never was.
export function choices(counts: Counts, cell: number, actions: number): number[] | null {
  const taken = counts.actions.slice(cell * actions, (cell + 1) * actions);
  const all = sum(taken);
  return all > 0 ? taken.map((value) => value / all) : null;
}

/// Total variation distance: the least share of visits in which the two act differently.
export function distance(a: number[], b: number[]): number {
  return a.reduce((total, value, i) => total + Math.abs(value - b[i]), 0) / 2;
}

export interface Disagreement {
  cell: number;
  distance: number;
  a: number[];
  b: number[];
  /// The smaller of the two shares of steps spent there.
  share: number;
}

/// Of every cell both visited.
export function disagreements(context: Context, a: number, b: number, actions: number) {
  const [first, second] = [context.clusters[a], context.clusters[b]];
  const [allA, allB] = [sum(first.visits), sum(second.visits)];
  const found: Disagreement[] = [];
  first.visits.forEach((_, cell) => {
    const here = choices(first, cell, actions), there = choices(second, cell, actions);
    if (!here || !there) return;
    found.push({
      cell, a: here, b: there, distance: distance(here, there),
      share: Math.min(first.visits[cell] / allA, second.visits[cell] / allB),
    });
  });
  return found;
}

/// Weighs by how much of their time both spend there, so that a rare cell does not decide.
export const weight = ({distance, share}: Disagreement): number => distance * Math.sqrt(share);

/// The two clusters that act most differently where both are.
export function mostDifferent(context: Context, actions: number): [number, number] {
  let best: [number, number] = [0, Math.min(1, context.clusters.length - 1)], most = -1;
  for (let a = 0; a < context.clusters.length; ++a) {
    for (let b = a + 1; b < context.clusters.length; ++b) {
      const apart = sum(disagreements(context, a, b, actions).map((d) => d.distance * d.share));
      if (apart > most) [best, most] = [[a, b], apart];
    }
  }
  return best;
}

// Clusters of continuous data against each other: how far apart each number keeps them.
import {clusterName, type Model} from '../model';
import type {CurvesBehaviour} from '../record';
import {preferences} from './action_words';
import {matchedClause} from './matched';
import {lasting, rounded, type Members} from './members';
import {words, type Words} from './words';

interface Moments {
  mean: number[];
  deviation: number[];
}

/// More says nothing more: numbers that never vary in a policy are infinitely far apart.
export const mostApart = 99;

export interface Telling {
  dimension: number;
  name: string;
  /// Difference of the means over the pooled deviation, for the two that are furthest apart.
  score: number;
  pair: [number, number];
}

/// Those that tell the clusters apart best first.
export function telling(all: Moments[], names: string[]): Telling[] {
  return names.map((name, dimension) => {
    let best: Telling = {dimension, name, score: 0, pair: [0, 0]};
    for (let a = 0; a < all.length; ++a) {
      for (let b = a + 1; b < all.length; ++b) {
        const score = apart(all[a], all[b], dimension);
        if (score > best.score) best = {dimension, name, score, pair: [a, b]};
      }
    }
    return best;
  }).sort((p, q) => q.score - p.score);
}

function apart(a: Moments, b: Moments, i: number): number {
  const pooled = Math.sqrt((a.deviation[i] ** 2 + b.deviation[i] ** 2) / 2);
  const score = Math.abs(a.mean[i] - b.mean[i]) / Math.max(pooled, 1e-9);
  return Number.isFinite(score) ? Math.min(score, mostApart) : 0;
}

export function curvesWords(model: Model, curves: CurvesBehaviour, all: Members[]): Words[] {
  const paid = all.some(({meanReturn}) => meanReturn);
  return all.map((members) => {
    if (!members.episodes) return words(['has no trajectories']);
    const counts = curves.clusters[members.cluster].action_counts;
    const choices = counts && preferences(counts, curves.action_names);
    const mark = matchedClause(model, members.cluster);
    const paying = paid && members.meanReturn !== null
      ? `returns ${rounded(members.meanReturn)} and ` : '';
    return words([choices, `${paying}${lasting(members)}`, mark], mark ?? choices);
  });
}

export function pairName([a, b]: [number, number]): string {
  return `${clusterName(a)} and ${clusterName(b)}`;
}

// The run round by round: objective, label changes, and sizes of clusters.
import * as Plot from '@observablehq/plot';
import {chart} from '../chart';
import {sum} from '../contingency';
import {figure} from '../figure';
import {count, number, percent, short} from '../format';
import {clusterName, type Model} from '../model';
import {clusterColour} from '../palette';
import type {RunRecord} from '../record';
import {objectiveScale, scaleNote} from './scale';

type Round = RunRecord['trace'][number];

export function objectiveFigure({report: {run}}: Model): HTMLElement {
  const values = run.trace.map(({objective}) => objective);
  const merged = run.restarts.some(({merges}) => merges.length > 0);
  return figure({
    title: 'Objective by round', file: 'objective',
    caption: `Higher is better. ${bestLine(run)}` +
      (merged ? ' It falls where clusters are merged.' : '') + scaleNote(values),
    draw: (width) => chart('Objective by round, one line per restart', {
      width, height: 260, marginLeft: 56, marginRight: 20,
      x: {label: 'round', tickFormat: 'd', ticks: roundTicks(run.trace)},
      y: {label: 'objective J', grid: true, ...objectiveScale(values)},
      marks: lines(run, 'objective', ({objective}) => `J ${number(objective)}`),
    }),
  });
}

export function changesFigure({report: {run}}: Model): HTMLElement {
  const n = Math.max(1, run.dataset.episodes);
  return figure({
    title: 'Labels changed by round', file: 'changes',
    caption: `Share of trajectories that changed policy. ${bestLine(run)}`,
    draw: (width) => chart('Share of labels changed by round, one line per restart', {
      width, height: 260, marginLeft: 56, marginRight: 20,
      x: {label: 'round', tickFormat: 'd', ticks: roundTicks(run.trace)},
      y: {label: 'changed', grid: true, zero: true, percent: true, tickFormat: (v: number) => `${number(v)}%`},
      marks: lines(run, ({changed}) => changed / n, ({changed}) => `${count(changed)} changed`),
    }),
  });
}

const bestLine = (run: RunRecord) =>
  run.restarts.length > 1
    ? `One line per restart; the bold one is the best, restart ${run.result.best_restart}.` : '';

/// Whole rounds only, at most eight of them.
function roundTicks(rounds: Round[]): number[] {
  const last = rounds.reduce((most, {round}) => Math.max(most, round), 1);
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((size) => last <= 8 * size) ?? 1000;
  return Array.from({length: Math.floor(last / step) + 1}, (_, i) => i * step)
      .filter((round) => round > 0);
}

function lines(run: RunRecord, y: string | ((round: Round) => number),
    words: (round: Round) => string): Plot.Markish[] {
  const best = run.trace.filter(({restart}) => restart === run.result.best_restart);
  const others = run.trace.filter(({restart}) => restart !== run.result.best_restart);
  const ends = (rounds: Round[]) =>
    [...new Map(rounds.map((round) => [round.restart, round])).values()];
  return [
    Plot.lineY(others, {x: 'round', y, z: 'restart', stroke: 'var(--faint)', strokeWidth: 1.25}),
    Plot.dot(ends(others), {x: 'round', y, r: 3, fill: 'var(--faint)'}),
    Plot.lineY(best, {x: 'round', y, stroke: 'var(--text)', strokeWidth: 2.25}),
    Plot.dot(ends(best), {x: 'round', y, r: 3, fill: 'var(--text)'}),
    Plot.tip(run.trace, Plot.pointer({
      x: 'round', y,
      title: (round: Round) => `Restart ${round.restart}, round ${round.round}\n${words(round)}`,
    })),
  ];
}

interface Layer {
  round: number;
  cluster: number;
  size: number;
}

export function sizesFigure({report: {run}}: Model): HTMLElement {
  const rounds = run.trace.filter(({restart}) => restart === run.result.best_restart);
  const layers: Layer[] = rounds.flatMap(({round, sizes}) =>
    sizes.map((size, cluster) => ({round, cluster, size})));
  const final = finalPolicies(run);
  const n = Math.max(1, run.dataset.episodes);
  const isLast = ({round}: Layer) => round === rounds[rounds.length - 1].round;
  const name = (cluster: number) => final ? clusterName(final[cluster]) : `cluster ${cluster}`;
  return figure({
    title: 'Sizes of clusters by round', file: 'sizes',
    caption: final
      ? 'The best restart. Colours are the policies the clusters became' +
        (final.length > run.result.k ? '; those of one colour were merged or emptied.' : '.')
      : 'The best restart; clusters in the order of their numbers at the time.',
    draw: (width) => chart('Sizes of clusters by round', {
      width, height: 260, marginLeft: 56, marginRight: final ? 64 : 20,
      x: {label: 'round', tickFormat: 'd', ticks: roundTicks(rounds)},
      y: {label: 'trajectories', tickFormat: short},
      marks: [
        Plot.rectY(layers, Plot.stackY({order: final ? order(final) : null}, {
          x1: ({round}: Layer) => round - 0.5, x2: ({round}: Layer) => round + 0.5,
          y: 'size', z: 'cluster', insetTop: 1, shapeRendering: 'crispEdges',
          fill: ({cluster}: Layer) => final ? clusterColour(final[cluster]) : 'var(--faint)',
          title: ({round, cluster, size}: Layer) =>
            `Round ${round}, ${name(cluster)}: ${count(size)} (${percent(size / n)})`,
        })),
        ...(final ? [Plot.text(layers.filter(isLast), Plot.stackY({order: order(final)}, {
          x: ({round}: Layer) => round + 0.5, y: 'size', z: 'cluster', dx: 6, textAnchor: 'start',
          text: ({cluster, size}: Layer) => size > n / 40 ? name(cluster) : '',
          fill: 'var(--text)',
        }))] : []),
      ],
    }),
  });
}

/// Clusters that end up together lie beside each other.
const order = (final: number[]) => ({cluster}: Layer) => 1000 * final[cluster] + cluster;

/// Which policy each cluster of the rounds became, or null where the record does not tell.
function finalPolicies(run: RunRecord): number[] | null {
  const rounds = run.trace.filter(({restart}) => restart === run.result.best_restart);
  const sizes = rounds[rounds.length - 1]?.sizes ?? [];
  const best = run.restarts.find(({restart}) => restart === run.result.best_restart);
  const into = sizes.map((_, cluster) => cluster);
  for (const merge of best?.merges ?? []) {
    for (let i = 0; i < into.length; ++i) if (into[i] === merge.from) into[i] = merge.into;
  }
  const left = [...new Set(into.filter((_, cluster) => sizes[cluster] > 0))].sort((a, b) => a - b);
  if (left.length !== run.result.k) return null;
  const final = into.map((cluster) => Math.max(0, left.indexOf(cluster)));
  const totals = left.map((_, policy) => sum(sizes.filter((_, i) => final[i] === policy)));
  const moved = sum(totals.map((total, policy) => Math.abs(total - run.result.sizes[policy])));
  return moved < run.dataset.episodes / 5 ? final : null;
}

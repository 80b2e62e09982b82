// How the evidence for each policy grows with the steps of an episode.
import * as Plot from '@observablehq/plot';
import {join} from '../behaviour/action_words';
import {endLabels, endRoom} from '../behaviour/end_labels';
import {chart, type Chart} from '../chart';
import {h} from '../dom';
import {count, counted} from '../format';
import {clusterName} from '../model';
import {clusterColour} from '../palette';
import type {Trajectory} from '../record';
import {stepAxis} from './step_axis';

/// The number of a kept step in the episode, from 1.
export const stepNumber = ({stride}: Pick<Trajectory, 'stride'>, kept: number): number => kept * stride + 1;

/// Log-likelihoods of all policies after a step, less that of the best. What a policy cannot have
/// done at all is not a number in the record.
function behind(evidence: (number | null)[], k: number, kept: number): number[] {
  const now = evidence.slice(kept * k, (kept + 1) * k).map((value) => value ?? -Infinity);
  const best = Math.max(...now);
  return now.map((value) => (Number.isFinite(best) ? value - best : 0));
}

export function drawEvidence(width: number, episode: Trajectory, k: number): Chart {
  const evidence = episode.evidence!, kept = evidence.length / k;
  const data = Array.from({length: kept}, (_, i) => behind(evidence, k, i)
      .map((value, cluster) => ({step: stepNumber(episode, i), value, cluster}))).flat();
  const finite = data.filter((d) => Number.isFinite(d.value));
  const lowest = Math.min(-1, ...finite.map((d) => d.value)), height = 180;
  return chart('Log-likelihood of each policy, relative to the best, after every step', {
    width, height, marginLeft: 52, marginRight: endRoom, marginTop: 10, marginBottom: 36,
    color: {type: 'identity'},
    x: stepAxis(episode.steps, width, 'steps so far'),
    y: {label: null, ticks: 4, nice: true, domain: [lowest, 0]},
    marks: [
      Plot.line(data, {
        x: 'step', y: 'value', z: 'cluster', stroke: (d) => clusterColour(d.cluster),
        strokeWidth: 1.8,
      }),
      Plot.dot(kept < 2 ? data : [], {
        x: 'step', y: 'value', fill: (d) => clusterColour(d.cluster),
      }),
      endLabels(data.slice(-k).filter((d) => Number.isFinite(d.value)).map((d) => ({
        x: d.step, y: d.value, cluster: d.cluster,
      })), {x: Infinity, y: -lowest * 14 / (height - 46)}),
    ],
  });
}

const alike = 0.05;

/// "After 7 steps Policy 2 is ahead of Policy 0 by 4.2 nats: these actions are e^4.2 = 67 times as
/// likely under it."
export function evidenceSentence(episode: Trajectory, k: number, kept: number): HTMLElement {
  const now = behind(episode.evidence!, k, kept);
  const order = now.map((value, cluster) => ({value, cluster})).sort((a, b) => b.value - a.value);
  const level = order.filter(({value}) => value > -alike);
  const after = `After ${counted(stepNumber(episode, kept), 'step')}`;
  if (level.length > 1) {
    const clusters = level.map(({cluster}) => cluster).sort((a, b) => a - b);
    const names = level.length === k && k > 2 ? 'all policies' : join(clusters.map(clusterName));
    return h('p', {}, `${after} ${names} explain it equally well.`);
  }
  if (order[1].value === -Infinity) {
    return h('p', {}, `${after} only ${clusterName(order[0].cluster)} could have done all of it.`);
  }
  const ahead = -order[1].value, digits = ahead < 10 ? 1 : 0;
  return h('p', {},
      `${after} ${clusterName(order[0].cluster)} is ahead of ${clusterName(order[1].cluster)} by `
      + `${ahead.toFixed(digits)} nats: these actions are `, ...times(ahead, digits),
      ' times as likely under it.');
}

function times(nats: number, digits: number): (Node | string)[] {
  const power = ['e', h('sup', {}, nats.toFixed(digits))];
  const value = Math.exp(nats);
  if (nats < 13) return [...power, ` = ${value < 10 ? value.toFixed(1) : count(value)}`];
  return [...power, ' ≈ 10', h('sup', {}, Math.round(nats / Math.LN10).toString())];
}

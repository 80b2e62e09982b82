// How far each policy falls behind whoever acts, step by step: level while it acts itself.
import * as Plot from '@observablehq/plot';
import {endLabels, endRoom} from '../behaviour/end_labels';
import {chart, type Chart} from '../chart';
import {h} from '../dom';
import {count} from '../format';
import {stepAxis} from '../look/step_axis';
import {clusterName} from '../model';
import {clusterColour} from '../palette';
import {swatch} from '../swatch';
import {takeover} from './strips';
import {at, type Evidence, type Segment} from './model';

const height = 260, alike = 0.05;

export function drawEvidence(
    width: number, steps: number, k: number, {behind, stride}: Evidence, segments: Segment[]): Chart {
  const kept = behind.length / k;
  const data = Array.from({length: kept * k}, (_, i) => ({
    step: Math.floor(i / k) * stride + 1, policy: i % k, value: behind[i],
  }));
  const lowest = Math.min(-1, ...data.map(({value}) => value));
  const highest = Math.max(0, ...data.map(({value}) => value));
  const switches = segments.filter(({begin}) => begin > 0);
  return chart('Log-likelihood of each policy so far, less that of who acted', {
    width, height, marginLeft: 60, marginRight: endRoom, marginTop: 26, marginBottom: 38,
    color: {type: 'identity'},
    x: stepAxis(steps, width, 'steps so far'),
    y: {label: 'nats behind', labelArrow: 'none', ticks: 5, nice: true, domain: [lowest, highest]},
    marks: [
      Plot.rectX(switches, {
        x1: (d: Segment) => Math.min(d.earliest, d.begin) + 0.5, x2: (d: Segment) => d.latest + 1.5,
        fill: 'var(--faint)', fillOpacity: 0.35,
      }),
      Plot.ruleX(switches, {x: (d: Segment) => d.begin + 1, stroke: 'var(--text)'}),
      Plot.line(data, {
        x: 'step', y: 'value', z: 'policy', strokeWidth: 1.8,
        stroke: (d: {policy: number}) => clusterColour(d.policy),
      }),
      endLabels(data.slice(-k).map(({step, value, policy}) => ({x: step, y: value, cluster: policy})),
          {x: Infinity, y: (highest - lowest) * 14 / (height - 64)}),
    ],
  });
}

/// "Policy 1 is acting, since step 236 to 244. So far it is ahead of Policy 0, the best other, by
/// 41 nats."
export function whoActs(
    k: number, {behind, stride}: Evidence, segments: Segment[], step: number): (Node | string)[] {
  const segment = at(segments, step), {policy} = segment;
  const now = Math.floor(step / stride) * k;
  const before = Math.ceil(segment.begin / stride) * k - k;
  const lead = (j: number) =>
    (before >= 0 && before <= now ? behind[before + j] : 0) - behind[now + j];
  const others = Array.from({length: k}, (_, j) => j).filter((j) => j !== policy);
  const best = others.reduce((a, b) => lead(b) < lead(a) ? b : a);
  const nats = lead(best), size = Math.abs(nats);
  const ahead = size < alike ? `level with ${clusterName(best)}, the best other`
    : `${nats < 0 ? 'behind' : 'ahead of'} ${clusterName(best)}, the best other, by ` +
      `${size < 10 ? size.toFixed(1) : count(size)} nats`;
  const since = segment.begin > 0 ? `, since ${takeover(segment)}` : ' from the first step';
  return [
    swatch(policy), h('strong', {}, `${clusterName(policy)} is acting`), `${since}. So far it is ${ahead}.`,
  ];
}

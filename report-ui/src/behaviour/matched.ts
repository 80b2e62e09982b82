// Where two policies see similar states, and whether they act differently there.
import {h} from '../dom';
import {figure} from '../figure';
import {number, percent} from '../format';
import {matrix} from '../matrix';
import {clusterName, type Model} from '../model';
import type {Behaviour, MatchedPair} from '../record';

/// A mean difference below this share of the typical one has no direction to speak of.
const oneSided = 0.3;

/// What is said of one policy: how it acts in states that another sees too.
export function matchedClause(model: Model, cluster: number): string | null {
  const own = (model.report.matched ?? []).filter(({pair}) => pair.includes(cluster));
  const excess = ({between = 0, within = 0}: MatchedPair) => between - within;
  const [most] = own.filter(({verdict}) => verdict === 'differ')
      .sort((a, b) => excess(b) - excess(a));
  if (most) return differing(most, cluster, model.report.behaviour);
  const alike = own.find((matched) => matched.verdict === 'alike' && !conflict(model, matched));
  if (alike) return `acts like ${clusterName(other(alike, cluster))} in similar states`;
  return own.length && own.every(({verdict}) => verdict === 'apart')
    ? `is hardly ever in states like those of ${
      own.length === 1 ? clusterName(other(own[0], cluster)) : 'another policy'}` : null;
}

/// Whether the search found that the two act differently in like states.
function conflict({report: {run}}: Model, {pair: [a, b]}: MatchedPair): boolean {
  return (run.result.pairs ?? []).some(({clusters, relation}) =>
    relation === 'different' && clusters.includes(a) && clusters.includes(b));
}

const other = ({pair}: MatchedPair, cluster: number) => pair[0] === cluster ? pair[1] : pair[0];

/// "in similar states its thigh torque is 0.24 lower than Policy 1’s, most where speed is high"
function differing(matched: MatchedPair, cluster: number, behaviour: Behaviour): string {
  const name = clusterName(other(matched, cluster)), {action, choices, where} = matched;
  const first = matched.pair[0] === cluster;
  const most = where ? `, most where ${where.name} is ${where.high ? 'high' : 'low'}` : '';
  if (choices) {
    const own = choice(behaviour, first ? choices.first : choices.second);
    const others = choice(behaviour, first ? choices.second : choices.first);
    return `in similar states chooses ${own} where ${name} chooses ${others} (${
      percent(choices.share)} of them)${most}`;
  }
  if (!action) return `acts differently from ${name} in similar states${most}`;
  const higher = first ? action.higher : -action.higher;
  return Math.abs(higher) < oneSided * action.apart
    ? `in similar states differs from ${name} most in ${action.name}, by ${brief(action.apart)}${most}`
    : `in similar states its ${action.name} is ${brief(Math.abs(higher))} ${
      higher > 0 ? 'higher' : 'lower'} than that of ${name}${most}`;
}

const brief = (value: number) => number(Number(value.toPrecision(2)));

function choice(behaviour: Behaviour, action: number): string {
  return behaviour.kind === 'path' ? `action ${action}`
    : behaviour.action_names[action] ?? `action ${action}`;
}

/// One sentence about two policies.
export function matchedSentence(model: Model, matched: MatchedPair): string {
  const {report} = model;
  const [a, b] = matched.pair.map(clusterName), {between = 0, within = 0} = matched;
  switch (matched.verdict) {
    case 'apart': return `${a} and ${b} are hardly ever in similar states, so how they act there ` +
      'cannot be compared.';
    case 'alike': return conflict(model, matched)
      ? `On average ${a} and ${b} act alike in similar states, but not in those most alike.`
      : `${a} and ${b} act alike in similar states: they may be one policy in two ` +
      'places.';
    case 'unclear': return `Whether ${a} and ${b} act differently in similar states is not clear ` +
      `from those there are (${percent(Math.max(...matched.share))} of the steps).`;
    case 'differ': return report.run.dataset.action.kind === 'discrete'
      ? `In similar states ${a} and ${b} choose differently in ${percent(between)} of cases, ` +
        `each with itself in ${percent(within)}.`
      : `In similar states the actions of ${a} and ${b} are ${
        times(between, within)} as far apart as those of one of them.`;
  }
}

/// Of mean squares.
function times(between: number, within: number): string {
  return within > 0 ? `${Number(Math.sqrt(between / within).toPrecision(2))} times` : 'many times';
}

const meaning = 'States are similar where a step of the other policy is no farther than a near one ' +
  'of the policy’s own other trajectories.';

/// Two policies in a sentence, more as a table of how far apart every two act.
export function matchedPart(model: Model): Node[] {
  const all = model.report.matched ?? [];
  if (!all.length) return [];
  if (all.length === 1) {
    return [h('p', {class: 'note matched'}, `${matchedSentence(model, all[0])} ${meaning}`)];
  }
  const of = new Map(all.map((one) => [one.pair.join(), one]));
  const cell = (a: number, b: number) => of.get([Math.min(a, b), Math.max(a, b)].join());
  const names = Array.from({length: model.k}, (_, cluster) => clusterName(cluster));
  const isShare = model.report.run.dataset.action.kind === 'discrete';
  const shade = ({verdict, between = 0, within = 0}: MatchedPair) =>
    verdict !== 'differ' ? 0 : isShare ? between - within
      : Math.min(1, Math.sqrt(between / Math.max(within, 1e-9)) - 1);
  const text = ({verdict, between = 0, within = 0}: MatchedPair) => verdict !== 'differ' ? verdict
    : isShare ? `${percent(between)}\n${percent(within)}`
      : `×${Number(Math.sqrt(between / Math.max(within, 1e-9)).toPrecision(2))}`;
  const table = figure({
    title: 'How differently they act in similar states', file: 'similar-states',
    caption: (isShare
      ? 'How often two choose differently in similar states, and below it how often one does with itself. '
      : 'How many times as far apart the actions of two are as those of one, in similar states. ') +
      `${meaning} “apart”: they are hardly ever in similar states. “alike”: perhaps one policy in ` +
      'two places.',
    draw: (width) => matrix({
      label: 'How differently every two policies act in similar states', rows: names, columns: names,
      columnLabel: null, shade: (a, b) => a === b ? 0 : shade(cell(a, b)!),
      text: (a, b) => a === b ? '' : text(cell(a, b)!),
    }, width),
  });
  if (model.k > 4) table.classList.add('wide');
  return [h('div', {class: 'figures'}, table)];
}

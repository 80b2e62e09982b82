// The run beside k-means on cheap summaries: where states alone give the same groups, they may be all
// that was divided.
import {h} from '../dom';
import {count, measure} from '../format';
import type {Model} from '../model';
import type {Agreement, Baseline} from '../record';

/// From this AMI on, k-means gives nearly the same groups.
const nearlySame = 0.8;

const statesSay = ({report}: Model): number => report.baselines?.states?.answer.ami ?? 0;

/// Whether states alone give the groups, and nothing shows that every two policies act differently in
/// similar ones.
export function statesExplain(model: Model): boolean {
  return statesSay(model) >= nearlySame &&
    !(model.report.matched ?? []).every(({verdict}) => verdict === 'differ');
}

/// The same, unless it is known that the groups are the true policies.
export const statesAreDoubtful = (model: Model): boolean =>
  statesExplain(model) && (model.report.run.result.ami ?? 0) < nearlySame;

/// What k-means on states says about the run's answer.
export function statesSentence(model: Model): string {
  const ami = measure(statesSay(model)), pairs = model.report.matched ?? [];
  if (statesSay(model) < nearlySame) {
    return `Where trajectories went does not explain this split: k-means on states alone gives other groups (AMI ${
      ami}).`;
  }
  if (statesExplain(model) && !statesAreDoubtful(model)) {
    return `k-means on states alone gives nearly the same groups (AMI ${ami}): where these policies go ` +
      'tells them apart as well as what they do.';
  }
  if (!statesExplain(model)) {
    return `k-means on states alone gives nearly the same groups (AMI ${ami}), but in similar states ` +
      'the policies act differently, so that there is more to them than where they are.';
  }
  const why = pairs.some(({verdict}) => verdict === 'alike')
    ? ' In similar states some act alike.'
    : pairs.some(({verdict}) => verdict === 'apart')
      ? ' Some are hardly ever in similar states, so their actions cannot be compared.' : '';
  return `States alone explain this split: k-means on where trajectories went, without their actions, ` +
    `gives nearly the same groups (AMI ${ami}). They may be places, tasks or sessions instead of policies.${why}`;
}

export function baselinesPart(model: Model): HTMLElement | null {
  const {baselines} = model.report;
  if (!baselines?.states && !baselines?.everything) return null;
  const rows: [string, Baseline | undefined][] = [
    ['States alone', baselines.states], ['States and actions', baselines.everything],
  ];
  const cells = (agreement: Agreement | null) => agreement
    ? [measure(agreement.nmi), measure(agreement.chance_nmi), measure(agreement.ami)] : ['–', '–', '–'];
  const known = rows.some(([, one]) => one?.truth);
  const heads = ['NMI', 'chance', 'AMI'];
  return h('div', {class: 'baselines'},
      h('div', {class: 'figure-head'}, h('h3', {}, 'Beside a cheap baseline')),
      h('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Baselines'},
          h('table', {},
              h('thead', {},
                  h('tr', {}, h('th', {scope: 'col'}, 'k-means on'),
                      h('th', {scope: 'colgroup', colspan: 3}, 'agrees with this answer'),
                      known && h('th', {scope: 'colgroup', colspan: 3}, 'with the true policies')),
                  h('tr', {}, h('td', {}), ...[...heads, ...known ? heads : []].map((name) =>
                    h('th', {scope: 'col', class: 'number'}, name)))),
              h('tbody', {}, ...rows.filter(([, one]) => one).map(([name, one]) => h('tr', {},
                  h('th', {scope: 'row'}, name),
                  ...[...cells(one!.answer), ...known ? cells(one!.truth) : []].map((cell) =>
                    h('td', {class: 'number'}, cell))))))),
      h('p', {class: 'note'}, 'k-means, with as many groups, on the mean and the deviation of every ' +
        `number of a trajectory${baselines.judged < model.n
          ? `; on ${count(baselines.judged)} of the trajectories` : ''}.`));
}

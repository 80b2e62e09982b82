// The first screen: what was found, how much each policy acted, and what was checked.
import {h} from '../dom';
import {count, counted, number, percent} from '../format';
import {clusterName} from '../model';
import {clusterColour} from '../palette';
import {swatch} from '../swatch';
import {environment, fileName} from '../wording';
import type {SegmentsModel} from './model';
import type {SegmentsRecord} from './record';

export function overviewSection(model: SegmentsModel): HTMLElement {
  const {report} = model, {dataset} = report.record;
  const kicker = [
    fileName(dataset.path), environment({dataset}), counted(dataset.episodes, 'episode'),
    counted(dataset.steps, 'step'),
  ].filter(Boolean).join(' · ');
  return h('section', {id: 'overview', 'aria-labelledby': 'overview-title'},
      h('p', {class: 'kicker'}, kicker),
      h('h1', {id: 'overview-title'}, report.conclusion),
      h('div', {class: 'overview'}, policies(model), checked(report.record)));
}

function policies(model: SegmentsModel): HTMLElement {
  const {steps} = model.report.record.result;
  const total = Math.max(1, steps.reduce((a, b) => a + b, 0)), most = Math.max(1, ...steps);
  const truth = model.report.truth;
  const trueName = (policy: number) => {
    const match = truth?.match.indexOf(policy) ?? -1;
    return match < 0 ? '–' : truth!.names[match] ?? `true policy ${match}`;
  };
  const head = (name: string, className = '') => h('th', {scope: 'col', class: className}, name);
  return h('div', {},
      h('h2', {class: 'quiet'}, 'Who acted how much'),
      h('div', {class: 'policies scroll', tabindex: 0, role: 'group', 'aria-label': 'Policies'},
          h('table', {},
              h('thead', {}, h('tr', {},
                  head('Policy'), head('Steps', 'number'), head('Share', 'number'), head('', 'size'),
                  truth && head('Matches'))),
              h('tbody', {}, ...steps.map((own, policy) => h('tr', {},
                  h('th', {scope: 'row'}, swatch(policy), clusterName(policy)),
                  h('td', {class: 'number'}, count(own)),
                  h('td', {class: 'number'}, percent(own / total)),
                  h('td', {class: 'size', 'aria-hidden': 'true'}, h('div', {
                    class: 'size-bar',
                    style: `width: ${100 * own / most}%; background: ${clusterColour(policy)}`,
                  })),
                  truth && h('td', {}, trueName(policy))))))));
}

function checked({result, dataset}: SegmentsRecord): HTMLElement {
  const {v, v_of_nobody, v_of_one, switches, unsure, idle, searched, rate} = result;
  const some = searched < dataset.episodes ? ` Judged on ${count(searched)} of the episodes.` : '';
  return h('div', {},
      h('h2', {class: 'quiet'}, 'What was checked'),
      h('dl', {class: 'stack'},
          ...fact('Held-out V', number(v),
              `In nats per step; if nobody switched ${number(v_of_nobody)}, of one policy ` +
              `${number(v_of_one)}. Higher predicts better.${some}`),
          ...switches > 0
            ? fact('Switches', `One every ${count(1 / rate)} steps`,
                'Believed because they predict held-out steps better than that nobody switches.')
            : [],
          ...unsure ? fact('Not sure',
              unsure.stretches ? `${percent(unsure.steps / dataset.steps)} of the steps` : 'Nowhere',
              unsure.stretches
                ? `${counted(unsure.stretches, 'stretch', 'stretches')} in which who is named acts with a ` +
                  'chance below 90\u00a0%: unsure.csv says who else may.'
                : 'Who is named acts with a chance of at least 90\u00a0% at every step.') : [],
          ...fact('Idle', idle.stretches ? counted(idle.stretches, 'stretch', 'stretches') : 'None',
              idle.stretches ? `${counted(idle.steps, 'step')} in which nothing happens: idle.csv.`
                : 'No stretch in which neither observation nor action changes.'),
          ...truth(result, dataset.steps / dataset.episodes)));
}

function truth({truth, switches}: SegmentsRecord['result'], length: number): HTMLElement[] {
  if (!truth) return [];
  const found = truth.switches === 0 ? 'Nobody truly switches'
    : `${count(truth.seen)} of ${counted(truth.switches, 'true switch', 'true switches')} found ` +
      `within ${truth.within} steps, ${count(truth.inside_interval)} inside the interval given` +
      (truth.said_unsure ? `, ${count(truth.said_unsure)} others said to be unsure` : '');
  const invented = switches === 0 ? 'none was found'
    : truth.invented === 0 ? 'none of those found is false'
      : `${count(truth.invented)} of those found ${truth.invented === 1 ? 'is' : 'are'} false`;
  // A switch found anywhere in a short episode is near a true one.
  const short = switches > 0 && length < 4 * truth.within
    ? ` That says little of where: episodes have ${count(length)} steps on average.` : '';
  return fact('Against the truth', `${share(truth.accuracy)} of the steps right`,
      `${found}; ${invented}.${short}`);
}

/// 98.78%: with more digits than percent() gives, for it is the last ones that differ.
function share(value: number): string {
  return value === 1 ? 'All' : `${Math.min(99.99, 100 * value).toFixed(2)}%`;
}

function fact(term: string, value: string, detail: string): HTMLElement[] {
  return [h('dt', {}, term), h('dd', {}, value, h('p', {class: 'note'}, detail))];
}

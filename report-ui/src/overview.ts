// The first screen: what was found and in what, how the policies differ, and what was checked.
import {describe} from './behaviour/describe';
import {bullet} from './bullet';
import {contingency, mostly, truthCount} from './contingency';
import {h} from './dom';
import {count, counted, duration, measure, number, percent} from './format';
import {clusterName, type Model} from './model';
import {clusterColour} from './palette';
import type {EvaluatedPolicy, Evaluation} from './record';
import {doubts} from './trust/trust';
import {
  agreement, agreementDetail, environment, fileName, howMany, isKnown, methodName,
  objectiveMeaning, oracle, seconds, whyThatMany,
} from './wording';

/// Words about more policies than these would not fit on the first screen.
const mostDescribed = 5;

/// Below this AMI the clusters have hardly anything to do with the true policies.
const nearChance = 0.05;

export function overviewSection(model: Model): HTMLElement {
  return h('section', {id: 'overview', 'aria-labelledby': 'overview-title'},
      h('p', {class: 'kicker'}, dataset(model)),
      headline(model.report.conclusion),
      ...warnings(model),
      h('div', {class: 'overview'}, policies(model),
          model.isAlternative ? alternative(model) : certainty(model)));
}

/// What is said after a semicolon is said more quietly.
function headline(conclusion: string): HTMLElement {
  const [main, ...rest] = conclusion.split('; ');
  return h('h1', {id: 'overview-title'}, main, rest.length > 0 && '; ',
      rest.length > 0 && h('span', {class: 'rest'}, rest.join('; ')));
}

function warnings(model: Model): HTMLElement[] {
  const all = doubts(model);
  return all.length ? [h('ul', {class: 'doubts', role: 'note'}, ...all.map((doubt) => h('li', {}, doubt)))] : [];
}

function dataset(model: Model): string {
  const {run} = model.report;
  return [
    fileName(run.dataset.path), counted(run.dataset.episodes, 'trajectory', 'trajectories'),
    counted(run.dataset.steps, 'step'), environment(run) ?? run.dataset.format,
  ].join('  ·  ');
}

function policies(model: Model): HTMLElement {
  const {evaluation} = model.report;
  const means = meanReturns(model);
  const titles = [
    h('th', {scope: 'col'}, 'Policy'),
    h('th', {scope: 'col', colspan: 2}, 'Trajectories'),
    model.truth && h('th', {scope: 'col'}, 'Made most often by'),
    means && h('th', {scope: 'col', class: 'number'}, 'Return in data'),
    evaluation && h('th', {scope: 'col', class: 'number'}, 'Return acting'),
  ];
  const columns = titles.filter((title) => title).length + 1;
  return h('div', {},
      h('h2', {class: 'quiet'}, 'The policies'),
      h('div', {
        class: model.k > 7 ? 'scroll policies many' : 'scroll policies', tabindex: 0,
        role: 'group', 'aria-label': 'The policies',
      }, h('table', {},
              h('thead', {}, h('tr', {}, ...titles)),
              ...policyRows(model, means, columns))),
      evaluation && h('p', {class: 'note'}, acting(evaluation)),
      basis(model));
}

/// What it was found in, and how.
function basis(model: Model): HTMLElement {
  const {run} = model.report;
  const {action, distinct_observations: distinct} = run.dataset;
  const observations = isKnown(distinct)
    ? `${counted(run.dataset.obs_dim, 'number')}, ${count(distinct)} distinct`
    : counted(run.dataset.obs_dim, 'number');
  const actions = action.kind === 'discrete'
    ? `one of ${count(action.count)}` : `${counted(action.dim ?? 0, 'number')} each`;
  const rows: [string, string][] = [
    ['Method', methodName(run)],
    ['Observations', observations],
    ['Actions', actions],
    ['Took', `${duration(seconds(run))}, ${counted(run.result.rounds, 'round')}` +
      (run.result.converged ? '' : ', stopped before it converged')],
  ];
  return h('dl', {class: 'facts basis'},
      ...rows.flatMap(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]));
}

function acting({environment: place, references}: Evaluation): string {
  const beside = references.map((policy) => `${policy.name} ${returns(policy)}`);
  return `Return acting: mean and standard deviation when the policy acts in ${place}.` +
    (beside.length ? ` For comparison, clones of: ${beside.join('; ')}.` : '');
}

/// Mean return of each cluster's episodes; null where no return is known, or all are the same.
function meanReturns(model: Model): number[] | null {
  const {returns: values} = model;
  if (!values || values.every((value) => value === values[0])) return null;
  const totals = new Array<number>(model.k).fill(0), sizes = new Array<number>(model.k).fill(0);
  values.forEach((value, episode) => {
    if (!Number.isFinite(value)) return;
    totals[model.label[episode]] += value;
    ++sizes[model.label[episode]];
  });
  return totals.map((total, cluster) => total / sizes[cluster]);
}

/// One group of rows per policy: its numbers, and, where there is room, how it differs.
function policyRows(model: Model, means: number[] | null, columns: number): HTMLElement[] {
  const {sizes} = model.report.run.result;
  const largest = Math.max(...sizes, 1);
  const truth = model.truth &&
    contingency(model.label, model.truth, model.k, truthCount(model));
  const words = model.k > 1 && model.k <= mostDescribed ? describe(model) : null;
  return sizes.map((size, cluster) => {
    const most = truth && mostly(truth[cluster]);
    const evaluated = model.report.evaluation?.clusters[cluster];
    const telling = words?.[cluster].telling;
    return h('tbody', {}, h('tr', {},
        h('th', {scope: 'row', class: 'name'}, clusterName(cluster)),
        h('td', {class: 'size'},
            h('div', {
              class: 'size-bar',
              style: `width: ${100 * size / largest}%; background: ${clusterColour(cluster)}`,
            })),
        h('td', {class: 'share'}, count(size), ' ',
            h('span', {class: 'muted'}, percent(size / Math.max(1, model.n)))),
        truth && h('td', {class: 'maker', title: most ? model.truthName(most.label) : ''},
            h('span', {}, most ? model.truthName(most.label) : '–'),
            most && h('span', {class: 'muted'}, percent(most.share))),
        means && h('td', {class: 'number'}, number(means[cluster])),
        model.report.evaluation && h('td', {class: 'number'}, returns(evaluated))),
    telling && h('tr', {class: 'telling-words'}, h('td', {colspan: columns}, telling)));
  });
}

function returns(policy: EvaluatedPolicy | undefined): string {
  if (!isKnown(policy?.return)) return '–';
  const digits = Math.abs(policy.return) >= 100 ? count : number;
  return `${digits(policy.return)} ± ${digits(policy.return_sd)}`;
}

function certainty(model: Model): HTMLElement {
  const {run} = model.report;
  return h('div', {},
      h('h2', {class: 'quiet'}, 'What was checked'),
      h('dl', {class: 'stack'},
          ...fact('Restarts', agreement(run), agreementDetail(run)),
          ...fact('Number of policies', howMany(run), whyThatMany(run)),
          ...truth(model),
          ...fact('Objective J', number(run.result.objective), objectiveMeaning(run))));
}

/// Restarts, the number of policies and the objective were checked for the answer alone.
function alternative(model: Model): HTMLElement {
  const {report, answer} = model, {v, nmi} = report.alternatives[answer - 2];
  return h('div', {},
      h('h2', {class: 'quiet'}, 'What was checked'),
      h('dl', {class: 'stack'},
          ...fact('Held-out V', number(v),
              'In nats per step: as good as that of the answer, as far as held-out trajectories tell.'),
          ...fact('NMI with the answer', measure(nmi),
              '1 where they are the same, 0 where they have nothing to do with each other.'),
          ...truth(model),
          h('dt', {}, 'Its labels'),
          h('dd', {class: 'plot'},
              h('p', {class: 'note'}, `“kindred label RUN --alternative ${answer}” writes them into ` +
                'the dataset.'))));
}

function fact(term: string, value: string, detail: string): HTMLElement[] {
  return [h('dt', {}, term), h('dd', {}, value, h('p', {class: 'note'}, detail))];
}

function truth(model: Model): HTMLElement[] {
  const {nmi, ceiling, ami, chance_nmi} = model.report.run.result;
  const chance = (chance_nmi ?? 0) < 0.0005 ? null : chance_nmi;  // of many, none to speak of
  if (!isKnown(nmi)) return [];
  if (model.k === 1 && nmi === 1) return fact('Against the truth', 'One true policy, too', '');
  const detail = [
    `Bar: NMI with the true policies${isKnown(ceiling) ? '' : '; 1 when the clusters are exactly these'}.`,
    isKnown(chance) && 'Pale: what chance would give, which AMI leaves out.',
    isKnown(ceiling) && `Tick: the oracle, ${oracle}.`,
  ].filter(Boolean).join(' ');
  return [
    h('dt', {}, 'Against the truth'),
    h('dd', {class: 'plot'},
        `NMI ${measure(nmi)}`,
        isKnown(ami) && `, AMI ${measure(ami)}`,
        isKnown(chance) && h('span', {class: 'muted'}, `, chance ${measure(chance)}`),
        isKnown(ceiling) && h('span', {class: 'muted'}, `, oracle ${measure(ceiling)}`),
        isKnown(ami) && ami < nearChance &&
          h('p', {class: 'note'}, 'That is hardly more than chance would give.'),
        bullet(nmi, ceiling, 320, chance),
        h('p', {class: 'note'}, detail)),
  ];
}

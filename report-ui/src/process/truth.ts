// Clusters against true policies, where those are known.
import {contingency, sum, truthCount} from '../contingency';
import {h} from '../dom';
import {figure} from '../figure';
import {count, measure, percent} from '../format';
import {matrix} from '../matrix';
import {clusterName, type Model} from '../model';
import {isKnown, oracle} from '../wording';

export function truthParts(model: Model): HTMLElement[] {
  const {truth, k} = model;
  if (!truth) return [];
  const names = Array.from({length: truthCount(model)}, (_, i) => model.truthName(i));
  if (!names.length) return [];
  const counts = contingency(model.label, truth, k, names.length);
  const share = (row: number, column: number) =>
    counts[row][column] / Math.max(1, sum(counts[row]));
  const confusion = figure({
    title: 'Policies found and true policies', file: 'confusion',
    caption: 'Trajectories of each policy found (rows) that each true policy made (columns), and ' +
      'their share of the row.',
    draw: (width) => matrix({
      label: 'Clusters by true policies', rows: clusters(k), columns: names,
      columnLabel: 'true policy', shade: share,
      text: (row, column) => counts[row][column]
        ? `${count(counts[row][column])}\n${percent(share(row, column))}` : '0',
    }, width),
  });
  if (names.length > 8) confusion.classList.add('wide');
  return [confusion, measures(model)];
}

const clusters = (k: number) => Array.from({length: k}, (_, cluster) => clusterName(cluster));

function measures({report: {run: {result}}}: Model): HTMLElement {
  const rows: [string, number | null | undefined, string][] = [
    ['NMI', result.nmi, 'Shared information; 1 when the clusters are exactly the true policies.'],
    ['NMI by chance', result.chance_nmi,
      'To expect of labels dealt out at random to clusters of the same sizes.'],
    ['AMI', result.ami, 'NMI adjusted for chance: 0 where chance does as well, 1 when all is right.'],
    ['Oracle’s NMI', result.ceiling, `Of somebody ${oracle}.`],
    ['ARI', result.ari, 'Pairs of trajectories rightly put together or apart, corrected for chance.'],
    ['Accuracy', result.accuracy,
      'Trajectories labelled correctly, with each cluster matched to one true policy.'],
    ['Purity', result.purity, 'Trajectories made by the true policy that made most of their cluster.'],
  ];
  return h('div', {},
      h('div', {class: 'figure-head'}, h('h3', {}, 'How well they match')),
      h('table', {}, h('tbody', {}, ...rows.filter(([, value]) => isKnown(value)).map(
          ([name, value, meaning]) => h('tr', {},
              h('th', {scope: 'row'}, name),
              h('td', {class: 'number'}, measure(value)),
              h('td', {class: 'muted'}, meaning))))));
}

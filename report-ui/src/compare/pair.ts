// Two runs of the reader's choice: which policies of one are which of the other.
import type {Numbers} from '../column';
import {contingency, sum} from '../contingency';
import {h} from '../dom';
import {figure} from '../figure';
import {count, percent} from '../format';
import {matrix} from '../matrix';
import {clusterName} from '../model';
import type {Comparison} from '../record';

type Run = Comparison['runs'][number];

export function pairPart(runs: Run[], labels: (Numbers | null)[]): HTMLElement {
  const place = h('div');
  const choose = (name: string, chosen: number) => h('select', {
    'aria-label': name, change: () => show(),
  }, ...runs.map((run, i) =>
    h('option', {value: i, selected: i === chosen, disabled: !labels[i]}, run.name)));
  const rows = choose('Rows', 0), columns = choose('Columns', 1);
  const show = () => {
    const a = Number(rows.value), b = Number(columns.value);
    const [from, to] = [labels[a], labels[b]];
    place.replaceChildren(from && to ? pairFigure(runs[a], runs[b], from, to)
      : h('p', {class: 'note'}, 'These two labelled different trajectories.'));
  };
  show();
  return h('div', {},
      h('div', {class: 'controls pair'},
          h('label', {}, 'Rows '), rows, h('label', {}, 'Columns '), columns),
      place);
}

function pairFigure(a: Run, b: Run, from: Numbers, to: Numbers): HTMLElement {
  const names = (k: number) => Array.from({length: k}, (_, cluster) => clusterName(cluster));
  const counts = contingency(from, to, a.run.result.k, b.run.result.k);
  const share = (row: number, column: number) =>
    counts[row][column] / Math.max(1, sum(counts[row]));
  return figure({
    title: `${a.name} by ${b.name}`, file: 'contingency',
    caption: `Trajectories of each policy of ${a.name} (rows) in each policy of ${b.name} ` +
      '(columns), and their share of the row.',
    draw: (width) => matrix({
      label: `Policies of ${a.name} by policies of ${b.name}`, rows: names(a.run.result.k),
      columns: names(b.run.result.k), columnLabel: b.name, shade: share,
      text: (row, column) => counts[row][column]
        ? `${count(counts[row][column])}\n${percent(share(row, column))}` : '0',
    }, width),
  });
}

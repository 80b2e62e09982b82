// Tables with one column per run.
import {bullet} from '../bullet';
import {h} from '../dom';
import {count, duration, measure, number} from '../format';
import {clusterName} from '../model';
import {clusterColour} from '../palette';
import type {Comparison} from '../record';
import {agreement, fileName, howMany, isKnown, methodName, seconds} from '../wording';

type Run = Comparison['runs'][number];
type Content = Node | string;

function table(runs: Run[], rows: [string, (run: Run) => Content, boolean?][]): HTMLElement {
  return h('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Runs'},
      h('table', {class: 'runs'},
          h('thead', {}, h('tr', {},
              h('td', {}), ...runs.map(({name}) => h('th', {scope: 'col'}, name)))),
          h('tbody', {}, ...rows.map(([name, content, marked]) =>
            h('tr', marked ? {class: 'differs'} : {},
                h('th', {scope: 'row'}, name),
                ...runs.map((run) => h('td', {}, content(run))))))));
}

export function runsTable(runs: Run[]): HTMLElement {
  const rows: [string, (run: Run) => Content][] = [
    ['Conclusion', ({conclusion}) => conclusion],
    ['Method', ({run}) => methodName(run)],
    ['Policies', ({run}) => howMany(run)],
    ['Sizes', ({run}) => sizes(run.result.sizes)],
    ['Restarts', ({run}) => agreement(run)],
    ['Objective J', ({run}) => number(run.result.objective)],
  ];
  if (runs.some(({run}) => isKnown(run.result.nmi))) {
    rows.push(['NMI with the truth', ({run}) => match(run)]);
  }
  if (runs.some(({evaluation}) => evaluation)) rows.push(['Returns acting', returns]);
  rows.push(['Took', ({run}) => duration(seconds(run))]);
  if (new Set(runs.map(({run}) => run.dataset.path)).size > 1) {
    rows.push(['Data', ({run}) => fileName(run.dataset.path)]);
  }
  return table(runs, rows);
}

function sizes(values: number[]): HTMLElement {
  const total = Math.max(1, values.reduce((a, b) => a + b, 0));
  const part = (size: number, cluster: number) => h('span', {
    style: `width: ${100 * size / total}%; background: ${clusterColour(cluster)}`,
    title: `${clusterName(cluster)}: ${count(size)}`,
  });
  return h('div', {},
      h('div', {class: 'stacked', 'aria-hidden': 'true'}, ...values.map(part)),
      h('span', {class: 'muted'}, values.map(count).join(' · ')));
}

function match({result: {nmi, ceiling, chance_nmi: chance}}: Run['run']): Content {
  if (!isKnown(nmi)) return '–';
  return h('div', {class: 'plot'},
      measure(nmi),
      isKnown(chance) ? h('span', {class: 'muted'}, `, chance ${measure(chance)}`) : '',
      isKnown(ceiling) ? h('span', {class: 'muted'}, `, oracle ${measure(ceiling)}`) : '',
      bullet(nmi, ceiling, 160, chance));
}

function returns({evaluation}: Run): string {
  if (!evaluation) return '–';
  return evaluation.clusters.map((policy) => count(policy.return)).join(' · ');
}

export function truthTable(runs: Run[]): HTMLElement {
  return table(runs, [
    ['NMI', ({run}) => measure(run.result.nmi)],
    ['NMI by chance', ({run}) => measure(run.result.chance_nmi)],
    ['AMI', ({run}) => measure(run.result.ami)],
    ['Oracle’s NMI', ({run}) => measure(run.result.ceiling)],
    ['ARI', ({run}) => measure(run.result.ari)],
    ['Accuracy', ({run}) => measure(run.result.accuracy)],
    ['Purity', ({run}) => measure(run.result.purity)],
  ]);
}

/// All options any run has: first those that differ, marked; then those only some methods have.
export function optionsTable(runs: Run[]): HTMLElement {
  const names = [...new Set(runs.flatMap(({run}) => Object.keys(run.options)))];
  const having = (name: string) => runs.filter(({run}) => name in run.options);
  const value = ({run}: Run, name: string) =>
    name in run.options ? JSON.stringify(run.options[name]).replaceAll('"', '') : '–';
  const differs = (name: string) => new Set(having(name).map((run) => value(run, name))).size > 1;
  const rank = (name: string) => differs(name) ? 0 : having(name).length < runs.length ? 1 : 2;
  names.sort((a, b) => rank(a) - rank(b));
  return table(runs, names.map((name) => [name, (run) => value(run, name), differs(name)]));
}

// All it takes to get the same answer again, and the answer as files.
import {h} from './dom';
import {csv, saveText} from './download';
import {count, counted} from './format';
import type {Model} from './model';
import type {RunRecord} from './record';
import {section} from './section';
import {fileName} from './wording';

export function reproduceSection(model: Model): HTMLElement {
  const {report} = model, {run} = report;
  return section('reproduce', 'Reproduce',
      h('p', {class: 'lead'},
          'The same command, data and version give the same labels on the same kind of machine.'),
      command(run.command),
      h('div', {class: 'reproduce'},
          h('div', {},
              h('h3', {}, 'The run'),
              runFacts(run),
              h('h3', {class: 'control'}, 'Files'),
              downloads(model),
              h('h3', {}, 'config.toml'),
              h('pre', {class: 'config', tabindex: 0, 'aria-label': 'config.toml'}, report.config)),
          h('div', {},
              h('h3', {}, 'All options'),
              options(run.options))));
}

export function command(text: string): HTMLElement {
  const copy = h('button', {type: 'button', class: 'control', click: async () => {
    copy.textContent = await copied(text) ? 'Copied' : 'Select and copy it by hand';
    setTimeout(() => { copy.textContent = 'Copy'; }, 2000);
  }}, 'Copy');
  return h('div', {class: 'command'}, h('pre', {tabindex: 0, 'aria-label': 'Command'}, text), copy);
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

type Made = Pick<RunRecord, 'version' | 'options' | 'started' | 'machine' | 'dataset'>;

/// With what it was made, and from what.
export function runFacts(run: Made): HTMLElement {
  const rows: [string, unknown][] = [
    ['Kindred', run.version], ['Seed', run.options.seed], ['Started', started(run.started)],
    ['Machine', machine(run.machine ?? {})], ['Data', run.dataset.path],
    ['Format', run.dataset.format],
  ];
  return h('dl', {class: 'facts'}, ...rows.filter(([, value]) => value != null && value !== '')
    .flatMap(([term, value]) => [h('dt', {}, term), h('dd', {}, show(value))]));
}

/// "cpu, 2 threads, 247 MB"
function machine(facts: Record<string, unknown>): string {
  const {device, threads, peak_rss_mb: memory, ...others} = facts;
  return [
    device, threads != null && counted(Number(threads), 'thread'),
    memory != null && `${count(Number(memory))} MB`,
    ...Object.entries(others).map(([name, value]) => `${name.replaceAll('_', ' ')} ${show(value)}`),
  ].filter(Boolean).join(', ');
}

/// "2026-11-15 13:32 UTC"
const started = (time: string) =>
  time?.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?Z$/, '$1 $2 UTC');

function show(value: unknown): string {
  if (typeof value === 'number') return String(Number(value.toPrecision(6)));
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function options(values: Record<string, unknown>): HTMLElement {
  return h('div', {class: 'scroll'}, h('table', {},
      h('tbody', {}, ...Object.entries(values).map(([name, value]) => h('tr', {},
          h('th', {scope: 'row', class: 'mono'}, name),
          h('td', {class: 'mono'}, show(value)))))));
}

function downloads(model: Model): HTMLElement {
  const name = fileName(model.report.name);
  const labels = model.isAlternative ? `${name}-alternative-${model.answer}-labels` : `${name}-labels`;
  return h('p', {class: 'controls'},
      h('button', {type: 'button', click: () =>
        saveText(labelsCsv(model), `${labels}.csv`, 'text/csv')}, 'Labels (CSV)'),
      h('button', {type: 'button', click: () =>
        saveText(document.getElementById('record')!.textContent!, `${name}-report.json`,
            'application/json')}, 'Everything on this page (JSON)'));
}

/// As in the run's labels.csv, with the truth beside them.
function labelsCsv(model: Model): string {
  const {margin, truth} = model;
  const rows: (string | number)[][] =
    [['episode', 'label', ...(margin ? ['margin'] : []), ...(truth ? ['truth'] : [])]];
  for (let i = 0; i < model.n; ++i) {
    rows.push([
      model.id(i), model.label[i], ...(margin ? [margin[i]] : []),
      ...(truth ? [truth[i] < 0 ? '' : model.truthName(truth[i])] : []),
    ]);
  }
  return csv(rows);
}

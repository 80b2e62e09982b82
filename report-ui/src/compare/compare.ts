// Several runs side by side.
import {decode, type Numbers} from '../column';
import {h} from '../dom';
import {figure} from '../figure';
import {counted, measure} from '../format';
import type {Entry} from '../frame';
import {matrix} from '../matrix';
import type {Comparison} from '../record';
import {section} from '../section';
import {isKnown, oracle} from '../wording';
import {pairPart} from './pair';
import {optionsTable, runsTable, truthTable} from './tables';

export function comparisonEntries(comparison: Comparison): Entry[] {
  const labels = comparison.runs.map(({label}) => label && decode(label));
  const entries = [
    {name: 'Side by side', content: sideBySide(comparison)},
    {name: 'Agreement', content: agreementSection(comparison, labels)},
  ];
  if (comparison.runs.some(({run}) => isKnown(run.result.nmi))) {
    entries.push({name: 'Truth', content: truthSection(comparison)});
  }
  return [...entries, {name: 'Options', content: optionsSection(comparison)}];
}

function sideBySide(comparison: Comparison): HTMLElement {
  return h('section', {id: 'runs', 'aria-labelledby': 'runs-title'},
      h('h1', {id: 'runs-title'}, conclusion(comparison)),
      h('div', {class: 'compared'}, runsTable(comparison.runs)));
}

/// "3 runs with 5, 5 and 4 clusters; NMI between their labels is 0.912 to 0.988."
function conclusion({runs, nmi}: Comparison): string {
  const ks = runs.map(({run}) => run.result.k);
  const found = ks.every((k) => k === ks[0])
    ? `${counted(runs.length, 'run')} with ${counted(ks[0], 'cluster')} each`
    : `${counted(runs.length, 'run')} with ${listed(ks)} clusters`;
  if (!nmi) return `${found}.`;
  const pairs = nmi.flatMap((row, a) => row.filter((_, b) => b > a));
  const least = Math.min(...pairs);
  return least > 1 - 1e-9 ? `${found}; all divide the trajectories the same way.`
    : `${found}; NMI between their labels is ${measure(least)}` +
      (pairs.length > 1 ? ` to ${measure(Math.max(...pairs))}.` : '.');
}

function listed(values: number[]): string {
  return `${values.slice(0, -1).join(', ')} and ${values[values.length - 1]}`;
}

function agreementSection(comparison: Comparison, labels: (Numbers | null)[]): HTMLElement {
  const {nmi, runs} = comparison;
  if (!nmi) {
    return section('agreement', 'Where they agree', h('p', {class: 'lead'},
        'These runs labelled different trajectories, so their labels cannot be compared.'));
  }
  const names = runs.map(({name}) => name);
  return section('agreement', 'Where they agree',
      h('p', {class: 'lead'}, 'NMI is 1 where two runs divide the trajectories in the same way, ' +
        'and 0 where their labels have nothing to do with each other.'),
      h('div', {class: 'figures'},
          figure({
            title: 'NMI between runs', file: 'nmi',
            draw: (width) => matrix({
              label: 'NMI between runs', rows: names, columns: names, columnLabel: null,
              shade: (a, b) => nmi[a][b],
              text: (a, b) => measure(nmi[a][b]),
            }, width),
          }),
          runs.length > 1 ? pairPart(runs, labels) : null));
}

function truthSection(comparison: Comparison): HTMLElement {
  return section('truth', 'Against the truth',
      h('p', {class: 'lead'}, 'How well the clusters of each run match the true policies. The oracle ' +
        `is somebody ${oracle}; a run may do a little better.`),
      truthTable(comparison.runs));
}

function optionsSection(comparison: Comparison): HTMLElement {
  return section('options', 'Options',
      h('p', {class: 'lead'},
          'Those that differ come first, then those that only some of the methods have.'),
      optionsTable(comparison.runs));
}

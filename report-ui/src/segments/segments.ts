// The page of who acted when.
import './segments.css';
import {h} from '../dom';
import {figure} from '../figure';
import {count} from '../format';
import type {Entry} from '../frame';
import {matrix} from '../matrix';
import {clusterName} from '../model';
import {command, runFacts} from '../reproduce';
import {section} from '../section';
import {lookSection} from './look';
import {SegmentsModel} from './model';
import {overviewSection} from './overview';
import type {Segmentation} from './record';
import {stripsSection} from './strips';

export function segmentEntries(report: Segmentation): Entry[] {
  const model = new SegmentsModel(report);
  const entries = [
    {name: 'Overview', content: overviewSection(model)},
    {name: 'Who acted when', content: stripsSection(model)},
  ];
  if (report.record.result.switches > 0) {
    entries.push({name: 'Who follows whom', content: followersSection(report)});
  }
  if (model.k > 1) entries.push({name: 'Why', content: lookSection(model)});
  return [...entries, {name: 'Reproduce', content: reproduceSection(report)}];
}

function followersSection({record: {result: {k, followers}}}: Segmentation): HTMLElement {
  const most = Math.max(1, ...followers.flat());
  const names = Array.from({length: k}, (_, policy) => clusterName(policy));
  return section('followers', 'Who follows whom',
      h('p', {class: 'lead'}, 'How often the policy of a column takes over from that of a row.'),
      h('div', {class: 'figures'}, figure({
        title: 'Switches from one policy to another', file: 'followers',
        draw: (width) => matrix({
          label: 'Switches from one policy to another', rows: names, columns: names,
          columnLabel: 'taken over by',
          shade: (from, to) => followers[from][to] / most,
          text: (from, to) => from === to ? '–' : count(followers[from][to]),
        }, width),
      })));
}

function reproduceSection({record}: Segmentation): HTMLElement {
  return section('reproduce', 'Reproduce',
      h('p', {class: 'lead'},
          'segments.csv beside this page has every segment; the same command finds them again.'),
      command(record.command), runFacts(record));
}

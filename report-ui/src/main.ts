// Puts the page together from the record inside it.
import './style.css';
import {comparisonEntries} from './compare/compare';
import {frame, type Entry} from './frame';
import {mapSection} from './map/map';
import {Model} from './model';
import {overviewSection} from './overview';
import {processSection} from './process';
import type {Comparison, Report} from './record';
import {reproduceSection} from './reproduce';
import {installTheme} from './theme';

function reportEntries(report: Report): Entry[] {
  const model = new Model(report);
  return [
    {name: 'Overview', content: overviewSection(model)},
    {name: 'Map', content: mapSection(model)},
    {name: 'How it got there', content: processSection(model)},
    {name: 'Reproduce', content: reproduceSection(model)},
  ];
}

installTheme();
const record = JSON.parse(document.getElementById('record')!.textContent!) as Report | Comparison;
if ('kindred_comparison' in record) frame('Comparison', comparisonEntries(record));
else frame(record.name, reportEntries(record));

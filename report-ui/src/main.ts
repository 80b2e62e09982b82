// Puts the page together from the record inside it.
import './style.css';
import {behaviourSection} from './behaviour/behaviour';
import {comparisonEntries} from './compare/compare';
import {frame, type Entry} from './frame';
import {lookSection} from './look/look';
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
    {name: 'What they do', content: behaviourSection(model)},
    {name: 'Look at these', content: lookSection(model)},
    {name: 'How it got there', content: processSection(model)},
    {name: 'Reproduce', content: reproduceSection(model)},
  ];
}

installTheme();
const record = JSON.parse(document.getElementById('record')!.textContent!) as Report | Comparison;
if ('kindred_comparison' in record) frame('Comparison', comparisonEntries(record));
else frame(record.name, reportEntries(record));

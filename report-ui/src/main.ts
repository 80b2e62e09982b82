// Puts the page together from the record inside it.
import './style.css';
import {frame, type Entry} from './frame';
import {mapSection} from './map/map';
import {Model} from './model';
import {overviewSection} from './overview';
import type {Report} from './record';
import {installTheme} from './theme';

function reportEntries(report: Report): Entry[] {
  const model = new Model(report);
  return [
    {name: 'Overview', content: overviewSection(model)},
    {name: 'Map', content: mapSection(model)},
  ];
}

installTheme();
const record = JSON.parse(document.getElementById('record')!.textContent!) as Report;
frame(record.name, reportEntries(record));

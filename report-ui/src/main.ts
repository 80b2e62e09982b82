// Puts the page together from the record inside it.
import './style.css';
import {reportOf} from './alternative';
import {answerChoice} from './answer_choice';
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
import type {Segmentation} from './segments/record';
import {segmentEntries} from './segments/segments';
import {installTheme} from './theme';
import {trustSection} from './trust/trust';

function reportEntries(model: Model): Entry[] {
  return [
    {name: 'Overview', content: overviewSection(model)},
    {name: 'Map', content: mapSection(model)},
    {name: 'Trust', content: trustSection(model)},
    {name: 'What they do', content: behaviourSection(model)},
    {name: 'Look at these', content: lookSection(model)},
    {name: 'How it got there', content: processSection(model)},
    {name: 'Reproduce', content: reproduceSection(model)},
  ];
}

/// The page of one answer; where the run has several, the reader chooses among them.
function showReport(report: Report): void {
  const page = (answer: number) => {
    const model = new Model(reportOf(report, answer), answer);
    return {model, entries: reportEntries(model)};
  };
  const pages = new Map([[1, page(1)]]);
  let shown = pages.get(1)!;
  const choice = report.alternatives.length > 0 && answerChoice(report, (answer) => {
    const selected = shown.model.selectedEpisode;
    if (!pages.has(answer)) pages.set(answer, page(answer));
    shown = pages.get(answer)!;
    show(shown.entries);
    if (selected !== null) shown.model.select(selected);
  });
  const show = frame(report.name, shown.entries, choice);
}

installTheme();
const record = JSON.parse(document.getElementById('record')!.textContent!) as
  Report | Comparison | Segmentation;
if ('kindred_comparison' in record) frame('Comparison', comparisonEntries(record));
else if ('kindred_segmentation' in record) frame(record.name, segmentEntries(record));
else showReport(record);

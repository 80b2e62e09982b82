// The choice between answers that predict equally well: one is shown at a time, on the whole page.
import {answerName} from './alternative';
import {h} from './dom';
import {measure, number} from './format';
import type {Report} from './record';
import {segmented} from './segmented';

export function answerChoice(report: Report, choose: (answer: number) => void): HTMLElement {
  const note = h('p', {class: 'note', role: 'status'}, facts(report, 1));
  const choices = [1, ...report.alternatives.map((_, i) => i + 2)]
    .map((value) => ({value, name: answerName(value)}));
  return h('div', {class: 'answers'},
      segmented('Answer to show', choices, 1, (answer) => {
        note.textContent = facts(report, answer);
        choose(answer);
      }),
      note);
}

/// "Held-out V −0.1234, NMI with the answer 0.330"
function facts(report: Report, answer: number): string {
  if (answer === 1) return `Held-out V ${number(report.run.result.v)}`;
  const {v, nmi} = report.alternatives[answer - 2];
  return `Held-out V ${number(v)}, NMI with the answer ${measure(nmi)}`;
}

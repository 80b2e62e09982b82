// "How far to trust it": what else could explain the answer, and what is odd in the file.
import {h} from '../dom';
import type {Model} from '../model';
import {section} from '../section';
import {baselinesPart, statesAreDoubtful, statesSentence} from './baselines';
import {conflictsFigure, conflictsSentences} from './conflicts';
import {marginNote, marginsFigure} from './margins';
import {orderFigure, orderIsDoubtful, orderSentence} from './order';

/// What a reader should know before anything else; often nothing.
export function doubts(model: Model): string[] {
  return [
    ...statesAreDoubtful(model) ? [statesSentence(model)] : [],
    ...orderIsDoubtful(model) ? [orderSentence(model)] : [],
    ...grave(model).map(({evidence}) => evidence),
  ];
}

const findings = ({report}: Model) => report.run.dataset.doctor ?? [];
/// Notes are for those who read on.
const grave = (model: Model) => findings(model).filter(({severity}) => severity === 'warning');

function oneSentence({report: {run: {result: {doubt}}}}: Model): string {
  return doubt ? `There is one cluster, so there are no labels to doubt, but it is not sure that there is one policy: ${doubt}.`
    : 'One policy explains all trajectories, so there are no labels to doubt.';
}

export function trustSection(model: Model): HTMLElement {
  const margins = marginsFigure(model);
  const sentences = [
    ...model.report.baselines?.states ? [statesSentence(model)] : [],
    model.k > 1 ? orderSentence(model) : oneSentence(model),
    ...conflictsSentences(model),
    ...margins ? [] : [marginNote(model)],
  ].filter((sentence) => sentence);
  return section('trust', 'How far to trust it',
      h('ul', {class: 'trusted'}, ...sentences.map((sentence) => h('li', {}, sentence))),
      h('div', {class: 'figures'},
          model.k > 1 && orderFigure(model), baselinesPart(model), margins,
          conflictsFigure(model)),
      ...oddities(model));
}

/// What `kindred info` finds odd in the file.
function oddities(model: Model): Node[] {
  const all = findings(model);
  if (!all.length) return [];
  return [
    h('h3', {class: 'odd-title'}, 'What looks odd in the file'),
    h('dl', {class: 'odd'}, ...all.flatMap(({key, evidence, advice}) => [
      h('dt', {}, key.replaceAll('-', ' ')), h('dd', {}, evidence, h('p', {class: 'note'}, advice)),
    ])),
  ];
}

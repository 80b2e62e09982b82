// How the run got to its answer: rounds, restarts, merges, time, and the truth where it is known.
import {h} from './dom';
import type {Model} from './model';
import {agreementFigure, finalFigure, mergesFigure} from './process/restarts';
import {changesFigure, objectiveFigure, sizesFigure} from './process/rounds';
import {timeFigure} from './process/time';
import {truthParts} from './process/truth';
import {section} from './section';
import {agreement, agreementDetail} from './wording';

export function processSection(model: Model): HTMLElement {
  const {run} = model.report;
  if (model.isAlternative) return alternativeSection(model);
  const rounds = run.trace?.some(({round}) => round > 1)
    ? [objectiveFigure(model), changesFigure(model), sizesFigure(model)] : [];
  const truth = truthParts(model);
  return section('process', 'How it got there',
      h('p', {class: 'lead'}, `${agreement(run)} ${agreementDetail(run)}`),
      h('div', {class: 'figures'},
          ...rounds,
          run.restarts.length > 1 ? finalFigure(model) : null,
          mergesFigure(model), agreementFigure(model), timeFigure(model)),
      truth.length > 0 && h('div', {class: 'figures'}, ...truth));
}

function alternativeSection(model: Model): HTMLElement {
  return section('process', 'How it got there',
      h('p', {class: 'lead'}, 'The search came to this division from one of its random starts. ' +
        'Rounds and restarts are told of the answer.'),
      h('div', {class: 'figures'}, ...truthParts(model)));
}

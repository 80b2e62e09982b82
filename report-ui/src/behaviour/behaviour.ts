// "What they do": how the policies differ in what they do, in pictures and in words.
import './behaviour.css';
import {h} from '../dom';
import type {Model} from '../model';
import {section} from '../section';
import {curvesBehaviour} from './curves';
import {describe} from './describe';
import {gridBehaviour} from './grid';
import {matchedPart} from './matched';
import {members} from './members';
import {pathBehaviour} from './path';
import {spread} from './spread';
import {wordList} from './words';

export function behaviourSection(model: Model): HTMLElement {
  return section('behaviour', 'What they do',
      h('p', {class: 'lead'}, 'Counted from the data: what the trajectories of each policy did.'),
      wordList(describe(model)), ...matchedPart(model), ...parts(model));
}

function parts(model: Model): Node[] {
  const all = members(model), {behaviour} = model.report;
  switch (behaviour.kind) {
    case 'grid': return [...gridBehaviour(model, behaviour, all), ...outcomes(model)];
    case 'path': return [...pathBehaviour(model, behaviour, all), ...outcomes(model)];
    case 'curves': return curvesBehaviour(model, behaviour, outcomes(model));
  }
}

/// Returns and lengths, or a sentence where there is nothing to see.
function outcomes(model: Model): Node[] {
  const found = [
    spread(model, 'Return', 'return of a trajectory', 'returns', model.returns),
    spread(model, 'Length', 'steps in a trajectory', 'lengths', model.length),
  ];
  const figures = found.flatMap((one) => (one?.figure ? [one.figure] : []));
  const sentences = found.flatMap((one) => (one?.sentence ? [one.sentence] : []));
  return [
    ...figures.length ? [h('div', {class: 'figures'}, ...figures)] : [],
    ...sentences.length ? [h('p', {class: 'note outcomes'}, sentences.join(' '))] : [],
  ];
}

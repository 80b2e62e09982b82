// "What they do": how the policies differ in what they do, in pictures and in words.
import './behaviour.css';
import {h} from '../dom';
import type {Model} from '../model';
import type {Behaviour} from '../record';
import {section} from '../section';
import {gridBehaviour} from './grid';
import {members, type Members} from './members';
import {pathBehaviour} from './path';
import {spread} from './spread';

export function behaviourSection(model: Model): HTMLElement {
  const all = members(model);
  return section('behaviour', 'What they do',
      h('p', {class: 'lead'}, 'Counted from the data: what the trajectories of each policy did.'),
      ...parts(model, model.report.behaviour, all),
      ...outcomes(model));
}

function parts(model: Model, behaviour: Behaviour, all: Members[]): Node[] {
  switch (behaviour.kind) {
    case 'grid': return gridBehaviour(model, behaviour, all);
    case 'path': return pathBehaviour(model, behaviour, all);
    default: return [];
  }
}

/// Returns and lengths, or a sentence where there is nothing to see.
function outcomes(model: Model): Node[] {
  const found = [
    spread(model, 'Return', 'return of an episode', 'returns', model.returns),
    spread(model, 'Length', 'steps in an episode', 'lengths', model.length),
  ];
  const figures = found.flatMap((one) => (one?.figure ? [one.figure] : []));
  const sentences = found.flatMap((one) => (one?.sentence ? [one.sentence] : []));
  return [
    ...figures.length ? [h('div', {class: 'figures'}, ...figures)] : [],
    ...sentences.length ? [h('p', {class: 'note outcomes'}, sentences.join(' '))] : [],
  ];
}

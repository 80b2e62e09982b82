// Each policy in words, whatever kind of data it is.
import type {Model} from '../model';
import {curvesWords} from './curves_data';
import {gridWords} from './grid_words';
import {members} from './members';
import {pathWords} from './path_data';
import type {Words} from './words';

export function describe(model: Model): Words[] {
  const all = members(model), {behaviour} = model.report;
  switch (behaviour.kind) {
    case 'grid': return gridWords(behaviour, all);
    case 'path': return pathWords(behaviour, all);
    case 'curves': return curvesWords(model, behaviour, all);
  }
}

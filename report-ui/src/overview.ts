// The first screen: how many policies, how sure, and what it was found in.
import {h} from './dom';
import type {Model} from './model';

export function overviewSection(model: Model): HTMLElement {
  return h('section', {id: 'overview', 'aria-labelledby': 'overview-title'},
      h('h1', {id: 'overview-title'}, model.report.conclusion));
}

// What is said of the policies: clauses about each.
import {h} from '../dom';
import {clusterName} from '../model';
import {swatch} from '../swatch';

export interface Words {
  /// In the order they are read.
  clauses: string[];
  /// The one that tells the policy from the others best, where one does.
  telling: string | null;
}

/// Leaves out what there is nothing to say about.
export function words(clauses: (string | null)[], telling: string | null = null): Words {
  return {clauses: clauses.filter((clause) => clause !== null), telling};
}

export function wordList(all: Words[]): HTMLElement {
  return h('ul', {class: 'words'}, ...all.map(({clauses}, cluster) => h('li', {},
      swatch(cluster), h('strong', {}, clusterName(cluster)),
      h('span', {}, `${clauses.join('; ')}.`))));
}

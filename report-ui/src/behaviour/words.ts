// Sentences about the policies, one each.
import {h} from '../dom';
import {clusterName} from '../model';
import {swatch} from './panels';

export function wordList(sentences: string[]): HTMLElement {
  return h('ul', {class: 'words'}, ...sentences.map((sentence, cluster) => h('li', {},
      swatch(cluster), h('strong', {}, clusterName(cluster)), h('span', {}, sentence))));
}

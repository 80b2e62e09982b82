// What every section of the page is made of: a heading and what follows it.
import {h} from './dom';

type Child = Node | string | null | undefined | false;

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h('section', {id, 'aria-labelledby': `${id}-title`},
      h('h2', {id: `${id}-title`}, title), ...children);
}

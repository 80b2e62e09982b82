// Which actions are chosen most, in words.
import {sum} from '../contingency';
import {percent} from '../format';

/// "mostly right (61%) and down (32%)": of counts, the most frequent and others that are not rare.
export function preferences(counts: number[], names: string[]): string {
  const all = sum(counts) || 1;
  const order = counts.map((n, i) => ({name: names[i], share: n / all}))
      .sort((a, b) => b.share - a.share);
  const said = order.filter(({share}, i) => i === 0 || (i < 3 && share >= 0.15));
  const list = said.map(({name, share}) => `${name} (${percent(share)})`);
  return `${order[0].share > 0.4 ? 'mostly' : 'often'} ${join(list)}`;
}

export function join(parts: string[]): string {
  return parts.length < 2 ? parts.join('')
    : `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;
}

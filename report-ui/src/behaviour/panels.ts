// Small multiples: the same chart once per policy, under its name, wrapped into rows.
import {h} from '../dom';
import {clusterName} from '../model';
import {pairColours} from '../palette';
import {swatch} from '../swatch';

export interface Panel {
  /// Whose colour stands beside the title, or null.
  cluster: number | null;
  title: string;
  notes: string[];
  plot: (width: number) => SVGElement;
}

const gap = 24;

export function panels(width: number, items: Panel[], least = 150, most = 330): HTMLElement {
  const fitting = Math.max(1, Math.floor((width + gap) / (least + gap)));
  // Rows of nearly equal length look calmer than a full row and a remainder.
  const rows = Math.ceil(items.length / fitting);
  const columns = Math.ceil(items.length / rows);
  const each = Math.floor(Math.min(most, (width - gap * (columns - 1)) / columns));
  return h('div', {
    class: 'panels', style: `grid-template-columns: repeat(${columns}, ${each}px)`,
  }, ...items.map((item) => h('div', {class: 'panel'}, heading(item), item.plot(each))));
}

function heading({cluster, title, notes}: Panel): HTMLElement {
  return h('div', {class: 'panel-head'},
      h('strong', {}, cluster !== null && swatch(cluster), title),
      ...notes.map((note) => h('span', {class: 'panel-note'}, note)));
}

/// Which arrows are whose, where two policies are compared.
export function pairLegend([a, b]: [number, number]): HTMLElement {
  const [first, second] = pairColours([a, b]);
  return h('p', {class: 'note keys'},
      h('span', {}, swatch(a, first), `${clusterName(a)} (thick arrows)`),
      h('span', {}, swatch(b, second), `${clusterName(b)} (thin arrows)`));
}

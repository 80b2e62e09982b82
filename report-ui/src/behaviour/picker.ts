// A labelled drop-down list.
import {h} from '../dom';

export interface Picker {
  element: HTMLElement;
  /// Shows another choice without calling back.
  show: (index: number) => void;
}

export function picker(
    label: string, names: string[], chosen: number, choose: (index: number) => void): Picker {
  const list = h('select', {change: () => choose(list.selectedIndex)},
      ...names.map((name) => h('option', {}, name)));
  list.selectedIndex = chosen;
  return {
    element: h('label', {class: 'picker'}, `${label} `, list),
    show: (index) => { list.selectedIndex = index; },
  };
}

/// Two of them, of which the second never shows what the first does.
export function pairPicker(
    names: string[], pair: [number, number],
    choose: (pair: [number, number]) => void): HTMLElement[] {
  let now = pair;
  const set = (a: number, b: number) => {
    now = a === b ? [now[1], now[0]] : [a, b];
    first.show(now[0]);
    second.show(now[1]);
    choose(now);
  };
  const first = picker('Compare', names, pair[0], (index) => set(index, now[1]));
  const second = picker('with', names, pair[1], (index) => set(now[0], index));
  return [first.element, second.element];
}

// A row of buttons of which one is chosen.
import {h} from './dom';

export interface Choice<T> {
  value: T;
  name: string;
}

export function segmented<T>(
    label: string, choices: Choice<T>[], chosen: T, choose: (value: T) => void): HTMLElement {
  const buttons = choices.map(({value, name}) => {
    const button = h('button', {
      type: 'button', 'aria-pressed': String(value === chosen),
      click: () => {
        for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
        choose(value);
      },
    }, name);
    return button;
  });
  return h('div', {class: 'segmented', role: 'group', 'aria-label': label}, ...buttons);
}

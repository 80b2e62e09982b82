// Light or dark: as the system says, until the reader chooses.
import {h} from './dom';
import {clusterProperties, isDark} from './palette';

const listeners: (() => void)[] = [];

/// Called when colours change; for canvases, as everything else follows custom properties.
export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

const tell = () => listeners.forEach((listener) => listener());

export function installTheme(): void {
  document.head.append(h('style', {}, clusterProperties()));
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', tell);
  printLight();
}

/// Canvases keep the colours they were drawn in, so they are drawn again for paper.
function printLight(): void {
  const {dataset} = document.documentElement;
  let before: string | undefined;
  window.addEventListener('beforeprint', () => {
    before = dataset.theme;
    dataset.theme = 'light';
    tell();
  });
  window.addEventListener('afterprint', () => {
    if (before) dataset.theme = before;
    else delete dataset.theme;
    tell();
  });
}

export function themeButton(): HTMLElement {
  const button = h('button', {class: 'plain', type: 'button', click: toggle});
  const name = () => { button.textContent = isDark() ? 'Light' : 'Dark'; };
  button.setAttribute('aria-label', 'Switch between light and dark colours');
  onTheme(name);
  name();
  return button;
}

function toggle(): void {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  tell();
}

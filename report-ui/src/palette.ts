// Colours of clusters: the palette of Okabe and Ito, which people with any kind of colour vision can
// tell apart; those with most contrast first, in the same order as kindred/render/theme.cpp. Their
// yellow is too faint on light ground, and darker it would be taken for orange: brown takes its place.
// After seven come the same, deeper, and then paler.
const blue = '#0072b2', vermillion = '#d55e00', green = '#009e73', purple = '#cc79a7';
const skyBlue = '#56b4e9', orange = '#e69f00', yellow = '#f0e442', brown = '#7b4f2a';

const shades = (colours: string[], deep: string, pale: string) => [
  ...colours, ...colours.map((c) => mixed(c, deep, 0.5)), ...colours.map((c) => mixed(c, pale, 0.5))];
const light = shades([blue, vermillion, green, purple, skyBlue, orange, brown], '#000000', '#a0a0a0');
const dark = shades([skyBlue, orange, green, purple, yellow, vermillion, blue], '#ffffff', '#707070');
const different = light.length;

function mixed(a: string, b: string, share: number): string {
  const part = (colour: string, i: number) => parseInt(colour.slice(i, i + 2), 16);
  return `#${[1, 3, 5].map((i) => Math.round(part(a, i) * (1 - share) + part(b, i) * share)
      .toString(16).padStart(2, '0')).join('')}`;
}

const prefersDark = window.matchMedia('(prefers-color-scheme: dark)');

/// Printed pages are light, whatever the screen is.
export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : prefersDark.matches;
}

/// The colour of a cluster; they repeat in the end, so clusters are always named too.
export function clusterColour(cluster: number): string {
  return `var(--cluster-${cluster % different})`;
}

/// The same as six digits, for canvases, in the current theme.
export function clusterHex(cluster: number): string {
  return (isDark() ? dark : light)[cluster % different];
}

/// The colours of two clusters that are compared: the second is in ink where both have the same.
export function pairColours([a, b]: [number, number]): [string, string] {
  return [clusterColour(a), a % different === b % different ? 'var(--text)' : clusterColour(b)];
}

/// The custom properties clusterColour refers to.
export function clusterProperties(): string {
  const set = (colours: string[]) => colours.map((c, i) => `--cluster-${i}: ${c};`).join(' ');
  return `:root { ${set(light)} }
    @media screen and (prefers-color-scheme: dark) { :root:not([data-theme=light]) { ${set(dark)} } }
    @media screen { :root[data-theme=dark] { ${set(dark)} } }`;
}

// Colours of clusters: the palette of Okabe and Ito, which people with any kind of colour vision can
// tell apart; those with most contrast first, in the same order as kindred/render/theme.cpp. Their
// yellow is too faint on light ground, and darker it would be taken for orange: brown takes its place.
// Seven more are for the rare runs that need them: muted ones, none of which is near one of the first.
const blue = '#0072b2', vermillion = '#d55e00', green = '#009e73', purple = '#cc79a7';
const skyBlue = '#56b4e9', orange = '#e69f00', yellow = '#f0e442', brown = '#7b4f2a';

const light = [
  blue, vermillion, green, purple, skyBlue, orange, brown,
  '#332288', '#8f8f2a', '#882255', '#3f9c8c', '#e0607e', '#115c2b', '#777777',
];
const dark = [
  skyBlue, orange, green, purple, yellow, vermillion, blue,
  '#9a8cf0', '#a8a83c', '#c2568c', '#8fe0d0', '#f2a3b5', '#4f9e66', '#b0b0b0',
];
const different = light.length;

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

// Whether margins tell right labels from wrong ones, where the truth is known.
import * as Plot from '@observablehq/plot';
import {chart} from '../chart';
import {contingency, mostly, truthCount} from '../contingency';
import {figure} from '../figure';
import {count, counted, number, percent, ticksFor} from '../format';
import type {Model} from '../model';

const mostLookedAt = 50_000;

interface Judged {
  margin: number;
  right: boolean;
}

/// Some trajectories with known truth and finite margin. A label is right where the true policy is the
/// most common of its cluster.
function judged(model: Model): Judged[] {
  const {margin, truth, n} = model;
  if (!margin || !truth || model.k < 2) return [];
  const main = contingency(model.label, truth, model.k, truthCount(model))
      .map((row) => mostly(row)?.label ?? -1);
  const stride = Math.ceil(n / mostLookedAt), all: Judged[] = [];
  for (let i = 0; i < n; i += stride) {
    if (truth[i] < 0 || !Number.isFinite(margin[i])) continue;
    all.push({margin: margin[i], right: truth[i] === main[model.label[i]]});
  }
  return all;
}

/// How often a right label has a larger margin than a wrong one; ties count half.
function separation(all: Judged[]): number {
  const sorted = [...all].sort((a, b) => a.margin - b.margin);
  const right = all.filter((one) => one.right).length, wrong = all.length - right;
  let below = 0, won = 0;
  for (let i = 0; i < sorted.length;) {
    let end = i, rights = 0;
    for (; end < sorted.length && sorted[end].margin === sorted[i].margin; ++end) {
      if (sorted[end].right) ++rights;
    }
    const wrongs = end - i - rights;
    won += rights * (below + wrongs / 2);
    below += wrongs;
    i = end;
  }
  return won / (right * wrong);
}

/// What the margins are, and whether they can be relied on.
function sentence(all: Judged[]): string {
  const wrong = all.filter(({right}) => !right).length;
  const share = separation(all);
  const worth = share >= 0.9 ? 'margins tell them apart well'
    : share >= 0.7 ? 'margins tell them apart in part' : 'margins say little about which are wrong';
  return `Of a right and a wrong label the right one has the larger margin in ${percent(share)} of cases ` +
    `(50% would be chance): ${worth}. Wrong are ${counted(wrong, 'label')} of ${count(all.length)}.`;
}

/// What margins are worth: in a sentence, or beside the figure where there is one.
export function marginNote(model: Model): string {
  const all = judged(model);
  return all.length && all.every(({right}) => right)
    ? `All labels are right, so there is nothing for margins to tell apart. ${origin(model)}`
    : origin(model);
}

function origin({report: {episodes, run}, n}: Model): string {
  const held = episodes.margin_held_out ?? 0;
  if (!episodes.margin || run.result.k < 2) return '';
  if (!held) return 'Margins are of policies that have seen the trajectory, and so a little too sure.';
  return held === n ? 'Margins are held-out ones: of policies fitted without the trajectory.'
    : `Margins of the ${count(held)} trajectories that were searched are held-out ones: of policies ` +
      'fitted without them.';
}

export function marginsFigure(model: Model): HTMLElement | null {
  const all = judged(model);
  if (new Set(all.map(({right}) => right)).size < 2) return null;
  return figure({
    title: 'Margins of right and wrong labels', file: 'margins',
    caption: `${sentence(all)} ${origin(model)} Each row on its own scale.`,
    draw: (width) => draw(width, all),
  });
}

function draw(width: number, all: Judged[]): SVGSVGElement {
  const margins = all.map(({margin}) => margin).sort((a, b) => a - b);
  // A few very sure ones would leave no room for the others.
  const high = margins[Math.floor(0.98 * (margins.length - 1))], low = margins[0];
  const bins = 30, step = (high - low) / bins || 1;
  const kinds = ['right', 'wrong'].filter((kind) => all.some(({right}) => right === (kind === 'right')));
  const bars = kinds.flatMap((kind) => {
    const counts = new Array<number>(bins).fill(0);
    for (const {margin, right} of all) {
      if (right !== (kind === 'right')) continue;
      ++counts[Math.min(bins - 1, Math.floor((margin - low) / step))];
    }
    const most = Math.max(...counts);
    return counts.map((n, i) => ({kind, from: low + i * step, to: low + (i + 1) * step, n,
      height: n / most})).filter(({n}) => n > 0);
  });
  return chart('Margins of right and wrong labels', {
    width, height: 56 * kinds.length + 44, marginLeft: 56, marginRight: 16, marginTop: 4, marginBottom: 38,
    color: {type: 'identity'},
    fy: {domain: kinds, label: null, axis: 'left', padding: 0.12},
    x: {
      label: 'margin', labelAnchor: 'center', labelArrow: 'none', ticks: Math.round(width / 90),
      tickFormat: ticksFor(low, high),
    },
    y: {axis: null, domain: [0, 1]},
    marks: [
      Plot.ruleX([0], {stroke: 'var(--line)'}),
      Plot.rect(bars, {
        fy: 'kind', x1: 'from', x2: 'to', y1: 0, y2: 'height', insetLeft: 0.5, insetRight: 0.5,
        fill: (bar) => bar.kind === 'right' ? 'var(--faint)' : 'var(--text)',
        title: (bar) => `${number(bar.from)} to ${number(bar.to)}: ${count(bar.n)} ${bar.kind}`,
      }),
      Plot.ruleY([0], {stroke: 'var(--line)'}),
    ],
  });
}

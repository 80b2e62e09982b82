// How a number is spread over the trajectories of each policy: one row of bars per policy, one axis.
import * as Plot from '@observablehq/plot';
import {chart, tip} from '../chart';
import type {Numbers} from '../column';
import {h} from '../dom';
import {figure} from '../figure';
import {counted, number, percent, ticksFor} from '../format';
import {clusterName, type Model} from '../model';
import {clusterColour} from '../palette';

interface Bar {
  cluster: number;
  low: number;
  high: number;
  /// The values it stands for.
  name: string;
  share: number;
  /// Of the highest bar in the row.
  height: number;
}

/// A figure, or one sentence where all trajectories have the same value; null where there is none.
/// What is not a number is left out.
export function spread(model: Model, title: string, axis: string, file: string,
    values: Numbers | null): {figure?: HTMLElement; sentence?: string} | null {
  if (!values || !model.n) return null;
  const {low, high, unknown} = extent(values);
  const left = unknown ? ` Not known for ${counted(unknown, 'trajectory', 'trajectories')}.` : '';
  if (low > high) return null;
  if (low === high) {
    const where = unknown ? 'wherever it is known' : 'in every trajectory';
    return {sentence: `${title}: ${number(low)} ${where}.${left}`};
  }
  const middles = medians(model, values);
  const bars = histogram(model, values, low, high);
  return {figure: figure({
    title, file,
    caption: 'Height: share of the policy’s trajectories, each row on its own scale. Line: the '
      + 'median.' + left,
    draw: (width) => draw(width, title, axis, bars, middles),
  })};
}

function extent(values: Numbers): {low: number; high: number; unknown: number} {
  let low = Infinity, high = -Infinity, unknown = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) {
      ++unknown;
      continue;
    }
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return {low, high, unknown};
}

function medians(model: Model, values: Numbers): {cluster: number; median: number}[] {
  const found: {cluster: number; median: number}[] = [];
  for (let cluster = 0; cluster < model.k; ++cluster) {
    const own = values.filter((value: number, i: number) =>
      model.label[i] === cluster && Number.isFinite(value)).sort();
    if (!own.length) continue;
    const middle = (own.length - 1) / 2;
    found.push({cluster, median: (own[Math.floor(middle)] + own[Math.ceil(middle)]) / 2});
  }
  return found;
}

/// Bars of round width; a bar for each value where those are few whole numbers.
function histogram(model: Model, values: Numbers, low: number, high: number): Bar[] {
  const whole = values.every((value) => Number.isInteger(value) || !Number.isFinite(value));
  const fine = (high - low) / 40;
  const power = 10 ** Math.floor(Math.log10(fine));
  const round = power * ([1, 2, 5, 10].find((size) => size * power >= fine) ?? 10);
  const width = whole ? Math.max(1, Math.round(round)) : round;
  const start = Math.floor(low / width) * width;
  const single = whole && width === 1;
  const bins = single ? high - start + 1 : Math.max(1, Math.ceil((high - start) / width));
  const counts = Array.from({length: model.k}, () => new Uint32Array(bins));
  const totals = new Uint32Array(model.k);
  values.forEach((value, i) => {
    if (!Number.isFinite(value)) return;
    ++counts[model.label[i]][Math.min(bins - 1, Math.floor((value - start) / width))];
    ++totals[model.label[i]];
  });
  return counts.flatMap((own, cluster) => Array.from(own, (n, i) => ({
    cluster, ...bin(start + i * width, width, single), share: n / totals[cluster],
    height: n / Math.max(...own),
  }))).filter((bar) => bar.share > 0);
}

/// The bar of a single value stands around it.
function bin(low: number, width: number, single: boolean): Pick<Bar, 'low' | 'high' | 'name'> {
  return single ? {low: low - 0.5, high: low + 0.5, name: number(low)}
    : {low, high: low + width, name: `${number(low)} to ${number(low + width)}`};
}

function draw(width: number, title: string, axis: string, bars: Bar[],
    middles: {cluster: number; median: number}[]): HTMLElement {
  const rows = [...new Set(bars.map((bar) => bar.cluster))];
  const row = rows.length > 8 ? 30 : 46;
  return h('div', {}, chart(`${title} of each policy: ${
    middles.map((m) => `${clusterName(m.cluster)} median ${number(m.median)}`).join(', ')}`, {
    width, height: row * rows.length + 40, marginLeft: 64, marginRight: 20, marginTop: 4,
    marginBottom: 36, color: {type: 'identity'},
    fy: {domain: rows, axis: null, padding: 0.12},
    x: {
      label: axis, labelAnchor: 'center', labelArrow: 'none', nice: true, ticks: Math.round(width / 80),
      tickFormat: ticksFor(Math.min(...bars.map((bar) => bar.low)), Math.max(...bars.map((bar) => bar.high))),
    },
    y: {axis: null, domain: [0, 1]},
    marks: [
      Plot.ruleY([0], {stroke: 'var(--line)'}),
      Plot.rectY(bars, {
        fy: 'cluster', x1: 'low', x2: 'high', y: 'height', insetLeft: 0.5, insetRight: 0.5,
        fill: (bar: Bar) => clusterColour(bar.cluster), fillOpacity: 0.75,
        title: (bar: Bar) => [
          clusterName(bar.cluster), bar.name,
          `${percent(bar.share)} of trajectories`].join('\n'),
        tip,
      }),
      Plot.tickX(middles, {fy: 'cluster', x: 'median', stroke: 'currentColor', strokeWidth: 1.5}),
      Plot.text(rows, {
        fy: (c) => c, text: (c) => clusterName(c), frameAnchor: 'bottom-left', dx: -62,
        textAnchor: 'start', dy: -2,
      }),
    ],
  }));
}

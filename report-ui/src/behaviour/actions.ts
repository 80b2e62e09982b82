// Actions of the policies side by side: quantiles of each number, or how often each was chosen.
import * as Plot from '@observablehq/plot';
import {chart, tip} from '../chart';
import {h} from '../dom';
import {figure} from '../figure';
import {number, percent, ticksFor} from '../format';
import {clusterName} from '../model';
import {clusterColour} from '../palette';
import type {CurvesBehaviour} from '../record';
import {swatch} from '../swatch';
import {telling} from './curves_data';
import {panels} from './panels';
import {picker} from './picker';
import {redrawable} from './redrawable';

const most = 8;
const whole = (share: number) => `${Math.round(100 * share)}%`;

export function actionFigures(curves: CurvesBehaviour): HTMLElement[] {
  if (curves.clusters.some((cluster) => cluster.action_counts)) return [frequencies(curves)];
  const order = actionOrder(curves);
  if (!order.length) return [];
  return [quantiles(curves, order), ...histograms(curves, order)];
}

/// The numbers of a continuous action, those that tell the policies apart best first.
export function actionOrder(curves: CurvesBehaviour): number[] {
  const moments = curves.clusters.flatMap(({action}) => (action ? [action] : []));
  if (moments.length !== curves.clusters.length) return [];
  return telling(moments, curves.action_names).map((t) => t.dimension);
}

interface Row {
  name: string;
  cluster: number;
  levels: number[];
}

/// Every number on an axis of its own: they need not have the same unit. The first and last quantile
/// as a thin line, the second and last but one as a thick one.
function quantiles(curves: CurvesBehaviour, order: number[]): HTMLElement {
  const {levels} = curves, last = levels.length - 1;
  const left = order.length > most
    ? ` The ${most} of ${order.length} numbers in which they differ most.` : '';
  const element = figure({
    title: 'Their actions', file: 'actions',
    caption: `Thin: ${whole(levels[0])} to ${whole(levels[last])} of the steps; thick: `
      + `${whole(levels[1])} to ${whole(levels[last - 1])}; dot: the median. Each number has its own `
      + `axis.${left}`,
    draw: (width) => panels(width, order.slice(0, most).map((dimension) => ({
      cluster: null, title: curves.action_names[dimension], notes: [],
      plot: (each: number) => drawQuantiles(each, curves, dimension),
    })), Math.min(250, width), 420),
  });
  if (order.length > 4) element.classList.add('wide');
  return element;
}

function drawQuantiles(width: number, curves: CurvesBehaviour, dimension: number): SVGSVGElement {
  const {levels} = curves, last = levels.length - 1, name = curves.action_names[dimension];
  const rows = curves.clusters.map((cluster, c): Row => (
    {name, cluster: c, levels: cluster.action!.quantiles[dimension]}));
  const low = Math.min(...rows.map((r) => r.levels[0]));
  const high = Math.max(...rows.map((r) => r.levels[last]));
  const colour = (r: Row) => clusterColour(r.cluster);
  const row = rows.length > 6 ? 14 : 18;
  return chart(`Quantiles of ${name} for each policy`, {
    width, height: row * rows.length + 30, marginLeft: 26, marginRight: 14, marginTop: 2,
    marginBottom: 26, color: {type: 'identity'},
    x: {
      label: null, nice: true, ticks: Math.max(2, Math.round(width / 80)),
      tickFormat: ticksFor(low, high), ...low === high ? {domain: [low - 1, high + 1]} : {},
    },
    y: {type: 'band', domain: rows.map((r) => r.cluster), label: null, axis: null, padding: 0},
    marks: [
      low <= 0 && high >= 0 ? Plot.ruleX([0], {stroke: 'var(--line)'}) : null,
      Plot.ruleY(rows, {
        y: 'cluster', x1: (r: Row) => r.levels[0], x2: (r: Row) => r.levels[last], stroke: colour,
        strokeWidth: 1.4,
      }),
      Plot.ruleY(rows, {
        y: 'cluster', x1: (r: Row) => r.levels[1], x2: (r: Row) => r.levels[last - 1],
        stroke: colour, strokeWidth: 6,
      }),
      Plot.dot(rows, {
        y: 'cluster', x: (r: Row) => r.levels[Math.floor(last / 2)], r: 3.4, fill: 'var(--ground)',
        stroke: 'currentColor', tip, title: (r: Row) => `${clusterName(r.cluster)}, ${r.name}\n`
          + levels.map((level, i) => `${whole(level)}: ${number(r.levels[i])}`).join('\n'),
      }),
      Plot.text(rows, {
        y: 'cluster', text: (r: Row) => String(r.cluster), frameAnchor: 'left', dx: -14,
        fontWeight: 600,
      }),
    ],
  });
}

function frequencies(curves: CurvesBehaviour): HTMLElement {
  const rows = curves.action_names.flatMap((name, a) => curves.clusters.map((cluster, c) => {
    const all = cluster.action_counts!.reduce((sum, n) => sum + n, 0);
    return {name, cluster: c, levels: [], share: all ? cluster.action_counts![a] / all : 0};
  }));
  return figure({
    title: 'Their actions', file: 'actions',
    caption: 'How often each action was chosen, as a share of the policy’s steps.',
    draw: (width) => grouped(width, 'Actions of each policy', 'share of steps', rows, [
      Plot.ruleX([0], {stroke: 'var(--line)'}),
      Plot.barX(rows, {
        fy: 'name', y: 'cluster', x: 'share', inset: 1,
        fill: (r: Row) => clusterColour(r.cluster), fillOpacity: 0.8, tip,
        title: (r: Row & {share: number}) => (
          `${clusterName(r.cluster)}\n${r.name}: ${percent(r.share)}`),
      }),
    ], {tickFormat: '.0%', nice: true}),
  });
}

/// One group of rows per action, one row per policy.
function grouped(width: number, label: string, axis: string, rows: Row[],
    marks: Plot.Markish[], scale: Plot.ScaleOptions = {nice: true}): SVGSVGElement {
  const names = [...new Set(rows.map((row) => row.name))];
  const clusters = [...new Set(rows.map((row) => row.cluster))];
  const longest = Math.max(...names.map((name) => name.length));
  const row = clusters.length > 6 ? 14 : 18, gap = 14;
  const group = row * clusters.length + gap, marginLeft = Math.min(180, 34 + 7 * longest);
  return chart(label, {
    width, height: group * names.length + 36, marginLeft, marginRight: 10, marginTop: 0,
    marginBottom: 36, color: {type: 'identity'},
    fy: {domain: names, label: null, axis: null, paddingInner: gap / group},
    y: {type: 'band', domain: clusters, label: null, axis: null, padding: 0},
    x: {label: axis, labelAnchor: 'center', labelArrow: 'none', ...scale},
    marks: [
      ...marks,
      Plot.text(names, {
        fy: (name) => name, text: (name) => name, frameAnchor: 'left', dx: 4 - marginLeft,
        textAnchor: 'start',
      }),
      Plot.text(rows, {
        fy: 'name', y: 'cluster', text: (r: Row) => String(r.cluster), frameAnchor: 'left', dx: -12,
        fontWeight: 600,
      }),
    ],
  });
}

/// The histogram of one number of the action, chosen from a list.
function histograms(curves: CurvesBehaviour, order: number[]): HTMLElement[] {
  const all = curves.histogram_edges;
  if (!all || curves.clusters.some((cluster) => !cluster.action_histogram)) return [];
  let dimension = order[0];
  const drawing = redrawable((width) => h('div', {},
      h('p', {class: 'note keys'}, ...curves.clusters.map((_, c) => h(
          'span', {}, swatch(c), clusterName(c)))),
      drawHistogram(width, curves, edgesOf(all, dimension), dimension)));
  const element = figure({
    title: 'One number of the action', file: 'action-histogram', draw: drawing.draw,
    caption: 'Share of the policy’s steps in each bin. The vertical axis is a square root, so that rare '
      + 'values show beside common ones.',
  });
  element.querySelector('.plot')!.before(h('div', {class: 'controls'}, picker('Action',
      order.map((i) => curves.action_names[i]), 0, (index) => {
        dimension = order[index];
        drawing.redraw();
      }).element));
  return [element];
}

/// In old records they are the same for every number.
function edgesOf(edges: number[][] | number[], dimension: number): number[] {
  const own = edges[dimension];
  return Array.isArray(own) ? own : edges as number[];
}

function drawHistogram(
    width: number, curves: CurvesBehaviour, edges: number[], dimension: number): SVGSVGElement {
  const data = curves.clusters.flatMap((cluster, c) => {
    const counts = cluster.action_histogram![dimension];
    const all = counts.reduce((sum, n) => sum + n, 0) || 1;
    // The last value once more, so that the last step has its full width.
    return [...counts, counts[counts.length - 1]].map((n, i) => ({
      cluster: c, x: edges[i], share: n / all,
    }));
  });
  const highest = Math.max(...data.map((d) => d.share), 0.01);
  return chart(`Histogram of ${curves.action_names[dimension]} for each policy`, {
    width, height: 240, marginLeft: 44, marginRight: 14, marginTop: 8, marginBottom: 36,
    color: {type: 'identity'},
    x: {
      label: curves.action_names[dimension], labelAnchor: 'center', labelArrow: 'none',
      ticks: Math.round(width / 80), tickFormat: ticksFor(edges[0], edges[edges.length - 1]),
    },
    y: {type: 'sqrt', label: null, tickFormat: '~%', ticks: 5, domain: [0, highest]},
    marks: [
      Plot.ruleY([0], {stroke: 'var(--line)'}),
      Plot.areaY(data, {
        x: 'x', y1: 0, y2: 'share', z: 'cluster', curve: 'step-after',
        fill: (d) => clusterColour(d.cluster), fillOpacity: 0.12,
      }),
      Plot.line(data, {
        x: 'x', y: 'share', z: 'cluster', curve: 'step-after',
        stroke: (d) => clusterColour(d.cluster), strokeWidth: 1.6,
      }),
    ],
  });
}

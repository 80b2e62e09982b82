// What policies do where there is no map: their actions and the course of their observations.
import * as Plot from '@observablehq/plot';
import {chart} from '../chart';
import {h} from '../dom';
import {figure} from '../figure';
import {ticksFor} from '../format';
import {clusterName, type Model} from '../model';
import {clusterColour} from '../palette';
import type {CurvesBehaviour} from '../record';
import {swatch} from '../swatch';
import {actionFigures} from './actions';
import {mostApart, pairName, telling, type Telling} from './curves_data';
import {endLabels, endRoom} from './end_labels';
import {panels} from './panels';
import {redrawable} from './redrawable';

const shownAtFirst = 4;
const listed = 12;

export function curvesBehaviour(
    model: Model, curves: CurvesBehaviour, outcomes: Node[]): Node[] {
  return [
    ...outcomes,
    h('div', {class: 'figures'}, ...actionFigures(curves),
        curves.times.length > 1 && stateFigure(model, curves)),
  ];
}

/// The course of the chosen numbers over time, beside the list they are chosen from.
function stateFigure(model: Model, curves: CurvesBehaviour): HTMLElement {
  const order = telling(curves.clusters.map((c) => c.observation), curves.observation_names);
  const chosen = new Set(order.slice(0, shownAtFirst).map((t) => t.dimension));
  const drawing = redrawable((width) => h('div', {},
      model.k > 1 ? clusterLegend(model.k) : null,
      panels(width, [
        ...order.filter((t) => chosen.has(t.dimension)).map(({name, dimension}) => ({
          cluster: null, title: name, notes: [],
          plot: (each: number) => drawCurve(each, curves, name, dimension),
        })),
        {
          cluster: null, title: 'still running', notes: [],
          plot: (each: number) => drawRunning(each, curves),
        },
      ], Math.min(260, width), 420)));
  const element = figure({
    title: 'The course of their observations', file: 'observations-over-time',
    caption: 'Line: mean of the trajectories still running. Band: from their 10% to their 90% '
      + 'quantile. The list is ordered by how well a number tells the policies apart: the '
      + 'difference of two policies’ means over their pooled deviation, for the two furthest '
      + 'apart.',
    draw: drawing.draw,
  });
  element.classList.add('wide');
  const plot = element.querySelector('.plot')!, body = h('div', {class: 'list-and-plot'});
  plot.before(body);
  body.append(chooser(order, chosen, drawing.redraw), plot);
  return element;
}

/// A list of numbers to choose from, each with a bar for how well it tells the policies apart.
function chooser(order: Telling[], chosen: Set<number>, changed: () => void): HTMLElement {
  const most = order[0]?.score || 1;
  const rows = order.map(({dimension, name, score, pair}, i) => {
    const box = h('input', {
      type: 'checkbox', checked: chosen.has(dimension), change: () => {
        if (box.checked) chosen.add(dimension);
        else chosen.delete(dimension);
        changed();
      },
    });
    return h('li', {hidden: i >= listed}, h('label', {title: score > 0 ? pairName(pair) : ''},
        box, h('span', {class: 'telling-name'}, name),
        h('span', {class: 'telling-bar'},
            h('span', {style: `width: ${Math.max(1, 100 * score / most)}%`})),
        h('span', {class: 'number'}, score < mostApart ? score.toFixed(2) : `≥${mostApart}`)));
  });
  const more = h('button', {type: 'button', class: 'plain', click: () => {
    for (const row of rows) row.hidden = false;
    more.remove();
  }}, `Show all ${order.length}`);
  return h('div', {class: 'telling'},
      h('p', {class: 'note'}, 'Tells them apart'),
      h('ul', {}, ...rows), order.length > listed ? more : null);
}

export function clusterLegend(k: number): HTMLElement {
  return h('p', {class: 'note keys'}, ...Array.from({length: k}, (_, cluster) => h(
      'span', {}, swatch(cluster), clusterName(cluster))));
}

interface Moment {
  cluster: number;
  time: number;
  mean: number;
  low?: number;
  high?: number;
}

function overTime(width: number, label: string, data: Moment[], percent = false): SVGSVGElement {
  const colour = (m: Moment) => clusterColour(m.cluster);
  const last = [...new Map(data.map((m) => [m.cluster, m])).values()];
  const height = Math.max(150, Math.round(width * 0.5));
  const low = percent ? 0 : Math.min(...data.map((m) => m.low ?? m.mean));
  const high = percent ? 1 : Math.max(...data.map((m) => m.high ?? m.mean));
  return chart(label, {
    width, height, marginLeft: 44, marginRight: endRoom,
    marginTop: 8, marginBottom: 36, color: {type: 'identity'},
    x: {label: 'step', labelAnchor: 'center', labelArrow: 'none', ticks: Math.round(width / 70)},
    y: {
      label: null, ticks: 4,
      ...percent ? {domain: [0, 1], tickFormat: '.0%'} : {tickFormat: ticksFor(low, high)},
    },
    marks: [
      percent ? null : Plot.areaY(data, {
        x: 'time', y1: 'low', y2: 'high', z: 'cluster', fill: colour, fillOpacity: 0.16,
      }),
      Plot.line(data, {x: 'time', y: 'mean', z: 'cluster', stroke: colour, strokeWidth: 1.8}),
      endLabels(last.map((m) => ({x: m.time, y: m.mean, cluster: m.cluster})), {
        x: 0.1 * (Math.max(...data.map((m) => m.time)) || 1), y: (high - low) * 14 / (height - 44),
      }),
    ],
  });
}

function drawCurve(
    width: number, curves: CurvesBehaviour, name: string, dimension: number): SVGSVGElement {
  const data = curves.clusters.flatMap(({curves: all, running}, cluster) => {
    const curve = all[dimension];
    return curves.times.map((time, i) => ({
      cluster, time, mean: curve.mean[i], low: curve.low[i], high: curve.high[i],
    })).filter((m, i) => running[i] > 0 && m.mean != null);
  });
  return overTime(width, `${name} over time, mean and 10% to 90% of each policy`, data);
}

function drawRunning(width: number, curves: CurvesBehaviour): SVGSVGElement {
  const data = curves.clusters.flatMap(({running}, cluster) => curves.times.map(
      (time, i) => ({cluster, time, mean: running[i]})).filter((m) => m.mean != null));
  return overTime(width, 'Share of each policy’s trajectories still running', data, true);
}

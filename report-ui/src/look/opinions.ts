// What each policy would do at one step, against what was done.
import * as Plot from '@observablehq/plot';
import {panels} from '../behaviour/panels';
import {turn} from '../behaviour/path_data';
import {plane} from '../behaviour/plane';
import {chart} from '../chart';
import {h} from '../dom';
import {ticksFor} from '../format';
import {clusterName} from '../model';
import {clusterColour} from '../palette';
import type {Trajectory} from '../record';
import {swatch} from '../swatch';

/// Rows are policies, columns actions; the action taken is marked.
export function probabilityTable(
    episode: Trajectory, k: number, names: string[], label: number, kept: number): HTMLElement {
  const taken = episode.actions![kept], n = names.length;
  const cell = (cluster: number, action: number) => {
    const share = episode.policies![(kept * k + cluster) * n + action];
    return h('td', {class: action === taken ? 'probability taken' : 'probability'},
        h('span', {class: 'bar-ground'}, h('span', {style: `width: ${100 * share}%`})),
        h('span', {class: share < 0.005 ? 'muted' : ''},
            share > 0 && share < 0.005 ? '<1%' : `${Math.round(100 * share)}%`));
  };
  return h('table', {class: 'probabilities'},
      h('caption', {}, 'What each policy would choose here'),
      h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'Policy'),
          ...names.map((name, action) => h('th', {
            scope: 'col', class: action === taken ? 'taken' : '',
          }, name, action === taken && h('span', {class: 'visually-hidden'}, ' (taken)'))))),
      h('tbody', {}, ...Array.from({length: k}, (_, cluster) => h('tr', {},
          h('th', {scope: 'row', class: cluster === label ? 'own' : ''},
              swatch(cluster), clusterName(cluster)),
          ...names.map((_, action) => cell(cluster, action))))));
}

export interface Gaussian {
  cluster: number;
  mean: number[];
  deviation: number[];
}

export function gaussians(episode: Trajectory, k: number, kept: number): Gaussian[] {
  const dim = episode.continuous_actions![0].length;
  return Array.from({length: k}, (_, cluster) => {
    const at = (kept * k + cluster) * 2 * dim, all = episode.policies!;
    return {cluster, mean: all.slice(at, at + dim), deviation: all.slice(at + dim, at + 2 * dim)};
  });
}

/// What can happen in an action's dimension anywhere in the episode, so that axes stay in place.
export function actionRange(episode: Trajectory, k: number, dimension: number): [number, number] {
  let low = Infinity, high = -Infinity;
  episode.continuous_actions!.forEach((action, kept) => {
    const values = [action[dimension]];
    if (episode.policies) {
      for (const {mean, deviation} of gaussians(episode, k, kept)) {
        values.push(mean[dimension] - deviation[dimension], mean[dimension] + deviation[dimension]);
      }
    }
    low = Math.min(low, ...values);
    high = Math.max(high, ...values);
  });
  return [low, high];
}

/// Every number on an axis of its own: means and deviations of the policies, and the value taken.
export function meanRows(width: number, episode: Trajectory, k: number, names: string[],
    dimensions: number[], ranges: [number, number][], kept: number): HTMLElement {
  const all = gaussians(episode, k, kept), taken = episode.continuous_actions![kept];
  return panels(width, dimensions.map((i) => ({
    cluster: null, title: names[i], notes: [],
    plot: (each: number) => meanRow(each, names[i], all, i, taken[i], ranges[i]),
  })), width, width);
}

function meanRow(width: number, name: string, all: Gaussian[], dimension: number, taken: number,
    domain: [number, number]): SVGSVGElement {
  const rows = all.map(({cluster, mean, deviation}) => (
    {cluster, mean: mean[dimension], deviation: deviation[dimension]}));
  type Row = (typeof rows)[number];
  const colour = (r: Row) => clusterColour(r.cluster);
  return chart(`${name}: the value taken, and mean and deviation of each policy`, {
    width, height: 16 * rows.length + 26, marginLeft: 26, marginRight: 14, marginTop: 2,
    marginBottom: 24, color: {type: 'identity'},
    x: {domain, label: null, ticks: Math.max(2, Math.round(width / 90)), tickFormat: ticksFor(...domain)},
    y: {type: 'band', domain: rows.map((r) => r.cluster), label: null, axis: null, padding: 0},
    marks: [
      Plot.ruleX([taken], {stroke: 'currentColor', strokeWidth: 2}),
      Plot.ruleY(rows, {
        y: 'cluster', x1: (r: Row) => r.mean - r.deviation, x2: (r: Row) => r.mean + r.deviation,
        stroke: colour, strokeWidth: 2,
      }),
      Plot.dot(rows, {y: 'cluster', x: 'mean', r: 3.5, fill: colour}),
      Plot.text(rows, {
        y: 'cluster', text: (r: Row) => String(r.cluster), frameAnchor: 'left', dx: -14,
        fontWeight: 600,
      }),
    ],
  });
}

/// Actions as places in a plane: an ellipse of one deviation around each policy's mean.
export function forcePlane(width: number, episode: Trajectory, k: number,
    range: [number, number, number, number], kept: number): SVGSVGElement {
  const [x, y] = episode.continuous_actions![kept];
  const all = episode.policies ? gaussians(episode, k, kept) : [];
  return plane({
    label: 'The action taken, and each policy’s mean action with one deviation around it',
    width, range, axes: ['action in x', 'action in y'],
    marks: [
      Plot.ruleX([0], {stroke: 'var(--line)'}), Plot.ruleY([0], {stroke: 'var(--line)'}),
      ...all.map((one) => Plot.line(ellipse(one), {
        x: '0', y: '1', stroke: clusterColour(one.cluster), strokeWidth: 1.5,
        fill: clusterColour(one.cluster), fillOpacity: 0.1,
      })),
      Plot.text(all, {
        x: (g) => g.mean[0], y: (g) => g.mean[1], text: (g) => String(g.cluster), fontWeight: 600,
        fill: 'currentColor', stroke: 'var(--ground)', strokeWidth: 3,
      }),
      Plot.link([0], {x1: 0, y1: 0, x2: x, y2: y, stroke: 'currentColor', strokeWidth: 2}),
      Plot.vector([0], {
        x, y, rotate: turn([x, y]), length: 9, r: 11, anchor: 'end', stroke: 'currentColor',
        strokeWidth: 2,
      }),
    ],
  });
}

function ellipse({mean, deviation}: Gaussian): [number, number][] {
  return Array.from({length: 49}, (_, i) => {
    const angle = 2 * Math.PI * i / 48;
    return [mean[0] + deviation[0] * Math.cos(angle), mean[1] + deviation[1] * Math.sin(angle)];
  });
}

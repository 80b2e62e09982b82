// What policies do in the plane: their routes, the field of their actions, and where two part.
import * as Plot from '@observablehq/plot';
import {tip} from '../chart';
import {h} from '../dom';
import {figure} from '../figure';
import {count, number} from '../format';
import {clusterName, type Model} from '../model';
import {clusterColour, pairColours} from '../palette';
import type {PathBehaviour} from '../record';
import {heat} from './heat';
import {memberNotes, type Members} from './members';
import {pairLegend, panels} from './panels';
import {
  along, bins, furthestApart, partings, partingWords, place, size, turn,
  type Parting,
} from './path_data';
import {pairPicker} from './picker';
import {plane} from './plane';
import {redrawable} from './redrawable';

type Point = [number, number];

export function pathBehaviour(model: Model, path: PathBehaviour, all: Members[]): Node[] {
  return [
    h('div', {class: 'figures'},
        wide(routes(model, path, all)), wide(fields(path, all)),
        ...model.k > 1 ? [wide(difference(path, all))] : []),
  ];
}

function wide(element: HTMLElement): HTMLElement {
  element.classList.add('wide');
  return element;
}

function routes(model: Model, path: PathBehaviour, all: Members[]): HTMLElement {
  const goal = commonGoal(model);
  const references = path.references.length ? ' Dashed: known routes.' : '';
  const one = (width: number, clusters: number[], label: string) => plane({
    label, width, range: path.range,
    marks: [known(path), ...clusters.map((c) => routeMarks(path, c, clusters.length > 1)),
      ends(path, clusters, goal)],
  });
  return figure({
    title: 'The routes they take', file: 'routes',
    caption: 'Thin lines: some of the trajectories. Thick line: the mean of all, with its direction. '
      + `Circle: where the mean route starts.${goal ? ' Star: the goal.' : ''}${references}`,
    draw: (width) => panels(width, [
      ...all.length > 1 ? [{
        cluster: null, title: 'All policies', notes: ['mean routes'],
        plot: (each: number) => one(each, all.map((m) => m.cluster), 'Mean routes of all policies'),
      }] : [],
      ...all.map((members) => ({
        cluster: members.cluster, title: clusterName(members.cluster), notes: memberNotes(members),
        plot: (each: number) => one(
            each, [members.cluster], `Routes of ${clusterName(members.cluster)}`),
      })),
    ], Math.min(200, (width - 24) / 2)),
  });
}

/// The goal, where all episodes the report holds have the same.
function commonGoal(model: Model): Point | null {
  const goals = model.report.trajectories.flatMap((t) => (t.path ? [t.path.goal] : []));
  const same = goals.every(([x, y]) => size([x - goals[0][0], y - goals[0][1]]) < 1e-4);
  return goals.length && same ? goals[0] : null;
}

const line = {x: (p: Point) => p[0], y: (p: Point) => p[1]};

function known(path: PathBehaviour): Plot.Markish[] {
  return path.references.map((reference) => Plot.line(reference, {
    ...line, stroke: 'var(--muted)', strokeWidth: 1.5, strokeDasharray: '4 4',
  }));
}

function routeMarks(path: PathBehaviour, cluster: number, onlyMean: boolean): Plot.Markish[] {
  const {routes: thin, mean_route: mean} = path.clusters[cluster];
  const stroke = clusterColour(cluster);
  const middle = mean[along(mean, 0.6)];
  return [
    onlyMean ? null : Plot.line(thin.flatMap((route, z) => route.map(([x, y]) => ({x, y, z}))), {
      x: 'x', y: 'y', z: 'z', stroke, strokeWidth: 1, strokeOpacity: thin.length > 60 ? 0.16 : 0.28,
    }),
    Plot.line(mean, {...line, stroke, strokeWidth: 3}),
    Plot.vector(heads(mean), {
      x: (p) => p.at[0], y: (p) => p.at[1], rotate: (p) => turn(p.way), length: 11, r: 11,
      anchor: 'end', stroke, strokeWidth: 3, strokeLinecap: 'round',
    }),
    onlyMean && middle ? Plot.text([middle], {
      ...line, text: () => String(cluster), dx: 12, dy: 8, fontWeight: 600,
    }) : null,
  ];
}

/// Three places along a route, and where it leads there.
function heads(route: Point[]): {at: Point; way: Point}[] {
  return [0.25, 0.5, 0.8].map((share) => along(route, share)).filter((i) => i > 0).map((i) => {
    const from = route[Math.max(0, i - 2)];
    return {at: route[i], way: [route[i][0] - from[0], route[i][1] - from[1]]};
  });
}

function ends(path: PathBehaviour, clusters: number[], goal: Point | null): Plot.Markish[] {
  const starts = clusters.map((c) => path.clusters[c].mean_route[0]).filter((point) => point);
  return [
    Plot.dot(starts, {...line, r: 4.5, fill: 'var(--ground)', stroke: 'currentColor'}),
    Plot.dot(goal ? [goal] : [], {
      ...line, symbol: 'star', r: 7, fill: 'currentColor', stroke: 'var(--ground)',
    }),
  ];
}

function fields(path: PathBehaviour, all: Members[]): HTMLElement {
  const found = all.map((members) => bins(path, members.cluster));
  const strongest = Math.max(...found.flat().map((bin) => size(bin.action)), 0);
  const busiest = Math.max(...found.flat().map((bin) => bin.share), 0);
  return figure({
    title: 'What they do there', file: 'action-fields',
    caption: 'Arrows: the mean action in each part of the plane, longer where it is stronger. '
      + `Shade: share of the policy’s steps. Both on one scale for all; the longest arrow is an `
      + `action of size ${number(Number(strongest.toPrecision(2)))}.`,
    draw: (width) => panels(width, all.map((members) => ({
      cluster: members.cluster, title: clusterName(members.cluster), notes: [],
      plot: (each) => plane({
        label: `Mean actions of ${clusterName(members.cluster)} across the plane`,
        width: each, range: path.range,
        marks: [
          binRects(path, found[members.cluster], (bin) => heat(bin.share, busiest),
              (bin) => `near ${place([bin.x, bin.y])}\nmean action ${place(bin.action)}\n`
                + `${count(bin.visits)} steps`),
          vectors(found[members.cluster], (bin) => bin.action, strongest, each / path.bins,
              'currentColor', 1.3),
        ],
      }),
    })), 240, 420),
  });
}

function binRects<T extends {x: number; y: number}>(
    path: PathBehaviour, data: T[], opacity: (bin: T) => number, title: (bin: T) => string,
    fill = 'var(--high)'): Plot.Markish {
  const [left, right, bottom, top] = path.range;
  const dx = (right - left) / path.bins / 2, dy = (top - bottom) / path.bins / 2;
  return Plot.rect(data, {
    x1: (b) => b.x - dx, x2: (b) => b.x + dx, y1: (b) => b.y - dy, y2: (b) => b.y + dy,
    inset: 0.5, fill, fillOpacity: opacity, title, tip,
  });
}

function vectors<T extends {x: number; y: number}>(data: T[], action: (bin: T) => Point,
    strongest: number, bin: number, stroke: string, width: number,
    anchor: 'start' | 'middle' = 'middle'): Plot.Markish {
  return Plot.vector(data, {
    x: 'x', y: 'y', anchor, rotate: (b) => turn(action(b)), stroke, strokeWidth: width, r: 7,
    length: (b) => Math.max(2, bin * size(action(b)) / (strongest || 1)),
  });
}

function difference(path: PathBehaviour, all: Members[]): HTMLElement {
  let pair = furthestApart(path);
  const sentences = h('ul', {class: 'sentences', 'aria-live': 'polite'});
  const drawing = redrawable((width) => {
    const [a, b] = pair, found = partings(path, a, b);
    sentences.replaceChildren(...partingWords(found, a, b).map((text) => h('li', {}, text)));
    return h('div', {class: 'beside'},
        h('div', {}, pairLegend(pair), drawDifference(Math.min(width, 480), path, found, a, b)),
        sentences);
  });
  const element = figure({
    title: 'Where two policies part', file: 'two-policies', draw: drawing.draw,
    caption: 'Mean actions where both have been. Shade: how far apart the two are.',
  });
  element.querySelector('.plot')!.before(h('div', {class: 'controls'}, ...pairPicker(
      all.map(({cluster}) => clusterName(cluster)), pair, (chosen) => {
        pair = chosen;
        drawing.redraw();
      })));
  return element;
}

function drawDifference(
    width: number, path: PathBehaviour, found: Parting[], a: number, b: number): SVGSVGElement {
  const most = Math.max(...found.map((p) => p.gap), 0);
  const strongest = Math.max(...found.flatMap((p) => [size(p.a), size(p.b)]), 0);
  const bin = 0.7 * width / path.bins, [first, second] = pairColours([a, b]);
  return plane({
    label: `Mean actions of ${clusterName(a)} and ${clusterName(b)} where both have been`,
    width, range: path.range,
    marks: [
      binRects(path, found, (p) => (most ? 0.36 * p.gap / most : 0), (p) => [
        `near ${place([p.x, p.y])}`, `${clusterName(a)}: ${place(p.a)}`,
        `${clusterName(b)}: ${place(p.b)}`].join('\n'), 'var(--contrast)'),
      vectors(found, (p) => p.a, strongest, bin, first, 2.6, 'start'),
      vectors(found, (p) => p.b, strongest, bin, second, 1.4, 'start'),
    ],
  });
}


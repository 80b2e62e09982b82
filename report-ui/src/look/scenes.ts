// An episode as a picture at one of its steps: on its map, in its plane, or as curves.
import * as Plot from '@observablehq/plot';
import {telling} from '../behaviour/curves_data';
import {turns} from '../behaviour/grid_arrows';
import {Layout} from '../behaviour/grid_layout';
import {gridMap} from '../behaviour/grid_map';
import {turn} from '../behaviour/path_data';
import {plane} from '../behaviour/plane';
import {chart} from '../chart';
import {h} from '../dom';
import type {Model} from '../model';
import {clusterColour} from '../palette';
import type {CurvesBehaviour, GridSetting, PathSetting, Trajectory} from '../record';
import {cursor, type Cursor} from './cursor';
import {stepNumber} from './evidence';
import {stepAxis} from './step_axis';

/// What a scene shows of an episode.
export type Scene = Pick<Trajectory, 'steps' | 'stride' | 'grid' | 'path'>
  & Partial<Pick<Trajectory, 'actions' | 'continuous_actions'>>;

/// The colour of a kept step.
export type StepColour = (kept: number) => string;

/// A way in pieces of one colour each, which meet.
function pieces<T>(way: T[], colour: StepColour): {way: T[]; colour: string}[] {
  const found: {way: T[]; colour: string}[] = [];
  way.forEach((place, kept) => {
    const last = found[found.length - 1], now = colour(kept);
    last?.way.push(place);
    if (last?.colour !== now) found.push({way: [place], colour: now});
  });
  return found;
}

export function gridScene(width: number, grid: GridSetting, episode: Scene, kept: number,
    colourOf: StepColour): SVGSVGElement {
  const layout = new Layout({...grid, frame: 'map'});
  const own = episode.grid!, place = (cell: number) => layout.place(cell);
  const trail = own.agent.slice(0, kept + 1).map(place);
  const here = trail[trail.length - 1], colour = colourOf(kept);
  const rotate = turns[grid.action_names[episode.actions?.[kept] ?? -1]];
  const last = stepNumber(episode, kept) === episode.steps;
  const ended = last && own.end !== null ? [here, place(own.end)] : [];
  const goal = own.goal ?? (grid.frame === 'map' ? grid.goal : null);
  return gridMap({
    label: `The map at step ${stepNumber(episode, kept)}: the agent is at row ${here.y}, `
      + `column ${here.x}`,
    width, bounds: layout.bounds, axes: layout.axes,
    scenery: {
      walls: (own.walls ?? (grid.frame === 'map' ? grid.walls : [])).map(place),
      goal: goal === null ? null : place(goal),
      objects: (own.objects[kept] ?? []).map(([kind, cell]) => ({...place(cell), kind})),
    },
    marks: () => [
      ...pieces(trail, colourOf).flatMap(({way, colour: own}) => [
        Plot.line(way, {x: 'x', y: 'y', stroke: own, strokeWidth: 2.5, strokeOpacity: 0.6}),
        Plot.dot(way, {x: 'x', y: 'y', r: 2.5, fill: own}),
      ]),
      Plot.line(ended, {x: 'x', y: 'y', stroke: colour, strokeWidth: 2, strokeDasharray: '3 3'}),
    ],
    over: (cell) => [
      Plot.vector(rotate === undefined ? [] : [here], {
        x: 'x', y: 'y', rotate, length: Math.max(14, 0.95 * cell), r: 4.5, anchor: 'start',
        stroke: 'currentColor', strokeWidth: 2,
      }),
      Plot.dot([here], {
        x: 'x', y: 'y', r: Math.max(4, 0.24 * cell), fill: colour, stroke: 'var(--ground)',
        strokeWidth: 1.5,
      }),
    ],
  });
}

/// What was chosen, and what came of it where that is something else.
export function gridMove(grid: GridSetting, episode: Scene, kept: number): string {
  const name = grid.action_names[episode.actions![kept]], slip = episode.grid!.slips[kept];
  if (slip === null) return name;
  return `${name}, but ${slip === 'stay' ? 'it stayed where it was' : `it went ${slip}`}`;
}

export function pathScene(width: number, path: PathSetting, episode: Scene, kept: number,
    colourOf: StepColour): SVGSVGElement {
  const {position, goal} = episode.path!, colour = colourOf(kept);
  const at = position[kept], force = episode.continuous_actions?.[kept];
  const line = {x: (p: [number, number]) => p[0], y: (p: [number, number]) => p[1]};
  return plane({
    label: `The way until step ${stepNumber(episode, kept)}`, width, range: path.range,
    marks: [
      ...path.references.map((reference) => Plot.line(reference, {
        ...line, stroke: 'var(--muted)', strokeDasharray: '4 4',
      })),
      Plot.line(position, {...line, stroke: 'var(--line)', strokeWidth: 2}),
      ...pieces(position.slice(0, kept + 1), colourOf).map(({way, colour: own}) =>
        Plot.line(way, {...line, stroke: own, strokeWidth: 2.5})),
      Plot.dot([goal], {
        ...line, symbol: 'star', r: 7, fill: 'currentColor', stroke: 'var(--ground)',
      }),
      Plot.dot([position[0]], {...line, r: 4, fill: 'var(--ground)', stroke: 'currentColor'}),
      force ? Plot.vector([at], {
        ...line, rotate: turn([force[0], force[1]]), length: 26, r: 6, anchor: 'start',
        stroke: 'currentColor', strokeWidth: 2,
      }) : null,
      Plot.dot([at], {...line, r: 5.5, fill: colour, stroke: 'var(--ground)', strokeWidth: 1.5}),
    ],
  });
}

/// The dimensions a reader should see first, those that tell the policies apart best.
export function curveOrder(curves: CurvesBehaviour): number[] {
  return telling(curves.clusters.map((c) => c.observation), curves.observation_names)
      .map((t) => t.dimension);
}

/// The episode's numbers over time, before the means of all policies; with cursors.
export function curveScene(width: number, model: Model, curves: CurvesBehaviour,
    episode: Trajectory, dimensions: number[]): {element: HTMLElement; move: Cursor} {
  const colour = clusterColour(model.label[episode.episode]);
  const last = (row: number) => row === dimensions.length - 1;
  const charts = dimensions.map((i, row) => {
    const own = episode.curves![i].map((value, kept) => ({step: stepNumber(episode, kept), value}));
    const means = curves.clusters.flatMap(({curves: all, running}, cluster) => curves.times
        .map((time, t) => ({step: time + 1, value: all[i].mean[t], cluster, running: running[t]}))
        .filter((m, t) => m.running > 0 && m.value != null
          // One beyond the end, so that the line reaches it.
          && (curves.times[t - 1] ?? 0) < episode.steps));
    return chart(`${curves.observation_names[i]} over the trajectory`, {
      width, height: (dimensions.length > 1 ? 86 : 206) + (last(row) ? 34 : 20), marginLeft: 44,
      marginRight: 8, marginTop: 6, marginBottom: last(row) ? 34 : 20, color: {type: 'identity'},
      x: stepAxis(episode.steps, width, last(row) ? 'step' : null),
      y: {label: null, ticks: 3},
      marks: [
        Plot.line(means, {
          x: 'step', y: 'value', z: 'cluster', stroke: (m) => clusterColour(m.cluster),
          strokeOpacity: 0.4, strokeWidth: 1, clip: true,
        }),
        Plot.line(own, {x: 'step', y: 'value', stroke: colour, strokeWidth: 1.8}),
        Plot.dot(own.length < 2 ? own : [], {x: 'step', y: 'value', fill: colour}),
      ],
    });
  });
  const cursors = charts.map(cursor);
  return {
    element: h('div', {class: 'curve-stack'}, ...charts.flatMap((one, j) => [
      h('p', {class: 'panel-note'}, curves.observation_names[dimensions[j]]), one])),
    move: (step) => cursors.forEach((move) => move(step)),
  };
}

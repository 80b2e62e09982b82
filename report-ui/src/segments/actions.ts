// What was done at every step, in the colour of who acts.
import * as Plot from '@observablehq/plot';
import {chart, type Chart} from '../chart';
import {h} from '../dom';
import {cursor, type Cursor} from '../look/cursor';
import {stepAxis} from '../look/step_axis';
import {clusterColour} from '../palette';
import {at, type Evidence, type Segment} from './model';
import type {ActionNames} from './record';

interface Point {
  step: number;
  value: number;
  policy: number;
  /// Of the segment: a line is not drawn across a switch.
  turn: number;
}

function points({stride, actions}: Evidence, segments: Segment[], wide: number, row: number): Point[] {
  return Array.from({length: actions!.length / wide}, (_, kept) => {
    const segment = at(segments, kept * stride);
    return {
      step: kept * stride + 1, value: actions![kept * wide + row], policy: segment.policy,
      turn: segment.begin,
    };
  });
}

function colour({policy}: Point): string {
  return clusterColour(policy);
}

/// Choices, one row for each action.
function choices(width: number, steps: number, names: string[], data: Point[]): Chart {
  return chart('The action taken at every step', {
    width, height: 56 + 18 * names.length, marginLeft: 60, marginRight: 8, marginTop: 6, marginBottom: 38,
    color: {type: 'identity'},
    x: stepAxis(steps, width, 'step'),
    y: {label: null, type: 'linear', domain: [names.length - 0.5, -0.5],
      ticks: names.map((_, action) => action), tickFormat: (action: number) => names[action] ?? ''},
    marks: [Plot.dot(data, {x: 'step', y: 'value', r: 3, fill: colour})],
  });
}

function curve(width: number, steps: number, name: string, data: Point[], last: boolean): Chart {
  return chart(`${name} at every step`, {
    width, height: last ? 114 : 96, marginLeft: 60, marginRight: 8, marginTop: 6,
    marginBottom: last ? 38 : 20, color: {type: 'identity'},
    x: stepAxis(steps, width, last ? 'step' : null),
    y: {label: null, ticks: 3, nice: true},
    marks: [
      Plot.line(data, {x: 'step', y: 'value', z: 'turn', stroke: colour, strokeWidth: 1.2}),
      Plot.dot(data.length < 2 ? data : [], {x: 'step', y: 'value', fill: colour}),
    ],
  });
}

export function drawActions(width: number, steps: number, {names, discrete}: ActionNames,
    evidence: Evidence, segments: Segment[]): {element: HTMLElement; move: Cursor} {
  const charts = discrete
    ? [choices(width, steps, names, points(evidence, segments, 1, 0))]
    : names.map((name, row) => curve(width, steps, name,
        points(evidence, segments, names.length, row), row + 1 === names.length));
  const cursors = charts.map(cursor);
  return {
    element: h('div', {class: 'curve-stack'}, ...charts.flatMap((one, row) => discrete ? [one] : [
      h('p', {class: 'panel-note'}, names[row]), one])),
    move: (step) => cursors.forEach((move) => move(step)),
  };
}

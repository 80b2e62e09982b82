// Labels along the order of the trajectories: recording sessions, and files that were joined, show at
// once.
import * as Plot from '@observablehq/plot';
import {chart} from '../chart';
import type {Numbers} from '../column';
import {truthCount} from '../contingency';
import {figure} from '../figure';
import {count} from '../format';
import {truthColours} from '../map/colouring';
import {clusterName, type Model} from '../model';
import {clusterColour} from '../palette';

interface Order {
  /// Neighbours with different labels, and how many of shuffled ones would have them.
  changes: number;
  expected: number;
  /// Whether the order says something about the labels.
  follows: boolean;
}

const standsOut = 4;  // standard deviations of what shuffling gives
const fewer = 0.5;    // of the changes that shuffling gives

/// Labels below 0 are not known, and left out.
export function orderOf(labels: Numbers): Order {
  const sizes = new Map<number, number>();
  let n = 0, changes = 0, last = -1;
  for (const label of labels) {
    if (label < 0) continue;
    sizes.set(label, (sizes.get(label) ?? 0) + 1);
    if (n > 0 && label !== last) ++changes;
    last = label;
    ++n;
  }
  const power = (p: number) => [...sizes.values()].reduce((sum, size) => sum + size ** p, 0);
  const squares = power(2);
  const expected = n ? (n * n - squares) / n : 0;
  // Of the number of runs in a random order of several kinds (Barton and David 1957).
  const variance = n > 1
    ? (squares * (squares + n * (n + 1)) - 2 * n * power(3) - n ** 3) / (n * n * (n - 1)) : 0;
  return {
    changes, expected,
    follows: changes < fewer * expected && expected - changes > standsOut * Math.sqrt(variance),
  };
}

/// What the order says about the labels.
export function orderSentence(model: Model): string {
  const {changes, expected, follows} = orderOf(model.label);
  if (!follows) return 'The labels do not follow the order of the trajectories.';
  const found = `The labels follow the order of the trajectories: they change ${
    changes === 1 ? 'once' : `${count(changes)} times`} from one to the next, where ${
    count(Math.max(1, expected))} would be expected of shuffled ones.`;
  return truthFollows(model)
    ? `${found} So do the true policies, whose trajectories stand one after the other in the file.`
    : `${found} Recording sessions and files that were joined look like this: what was divided may ` +
      'be when or where they were recorded.';
}

/// Whether the order explains labels, and no truth says that it should.
export const orderIsDoubtful = (model: Model): boolean =>
  model.k > 1 && orderOf(model.label).follows && !truthFollows(model);

const truthFollows = ({truth}: Model) => truth !== null && orderOf(truth).follows;

interface Part {
  row: string;
  from: number;
  to: number;
  low: number;
  high: number;
  kind: number;
}

export function orderFigure(model: Model): HTMLElement {
  const shown = figure({
    title: 'Labels along the order of the trajectories', file: 'order',
    caption: 'From the first trajectory in the file to the last; where there are many, each column ' +
      'holds the shares of some that follow each other.' +
      (model.truth ? ' Below: the true policies, each in the colour of the one found that it mostly is.' : ''),
    draw: (width) => strip(model, width),
  });
  shown.classList.add('wide');
  return shown;
}

function strip(model: Model, width: number): SVGSVGElement {
  const columns = Math.max(1, Math.min(model.n, Math.floor((width - 80) / 3)));
  const rows = [
    ...parts('found', model.label, model.k, columns),
    ...model.truth ? parts('true', model.truth, truthCount(model), columns) : [],
  ];
  const ofTruth = model.truth ? truthColours(model, model.truth) : [];
  return chart('Labels along the order of the trajectories', {
    width, height: model.truth ? 120 : 84, marginLeft: 44, marginRight: 16, marginTop: 4,
    marginBottom: 36, color: {type: 'identity'},
    fy: {domain: model.truth ? ['found', 'true'] : ['found'], label: null, axis: 'left', padding: 0.15},
    x: {
      domain: [0, model.n], label: 'trajectory', labelAnchor: 'center', labelArrow: 'none',
      tickFormat: (i: number) => Number.isInteger(i) ? count(i) : '', ticks: Math.round(width / 110),
    },
    y: {axis: null, domain: [0, 1]},
    marks: [Plot.rect(rows, {
      fy: 'row', x1: 'from', x2: 'to', y1: 'low', y2: 'high',
      fill: (part: Part) => clusterColour(part.row === 'found' ? part.kind : ofTruth[part.kind]),
      shapeRendering: 'crispEdges',
      title: (part: Part) => `${
        part.row === 'found' ? clusterName(part.kind) : model.truthName(part.kind)}, ${
        part.to - part.from > 1 ? `${count(part.from)} to ${count(part.to - 1)}` : count(part.from)}`,
    })],
  });
}

/// Neighbouring columns that hold one and the same label become one part.
function parts(row: string, labels: Numbers, kinds: number, columns: number): Part[] {
  const all: Part[] = [];
  for (let column = 0; column < columns; ++column) {
    const from = Math.floor(column * labels.length / columns);
    const to = Math.floor((column + 1) * labels.length / columns);
    const counts = new Array<number>(kinds).fill(0);
    for (let i = from; i < to; ++i) if (labels[i] >= 0) ++counts[labels[i]];
    let low = 0;
    counts.forEach((n, kind) => {
      if (!n) return;
      const high = low + n / (to - from), last = all[all.length - 1];
      if (high - low === 1 && last?.to === from && last.kind === kind && last.high - last.low === 1) {
        last.to = to;
      } else all.push({row, from, to, low, high, kind});
      low = high;
    });
  }
  return all;
}

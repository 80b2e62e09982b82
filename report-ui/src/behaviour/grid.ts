// What policies do in a gridworld: a map of each, and where two of them part.
import * as Plot from '@observablehq/plot';
import {tip} from '../chart';
import {sum} from '../contingency';
import {h} from '../dom';
import {figure} from '../figure';
import {percent, count} from '../format';
import {clusterName, type Model} from '../model';
import {pairColours} from '../palette';
import type {GridBehaviour} from '../record';
import {segmented} from '../segmented';
import {actionMarks, inWords, type Chosen} from './grid_arrows';
import {choices, disagreements, mostDifferent, type Context} from './grid_data';
import {Layout, type Place} from './grid_layout';
import {gridMap, square, type Scenery} from './grid_map';
import {disagreementWords, overallDisagreement} from './grid_words';
import {apart, heat, legend, upTo} from './heat';
import {memberNotes, type Members} from './members';
import {pairLegend, panels} from './panels';
import {pairPicker, picker} from './picker';
import {redrawable} from './redrawable';

type Shown = 'both' | 'heat' | 'arrows';
type Difference = 'actions' | 'occupancy';

/// Light enough for arrows of any colour.
const shade = (distance: number) => 0.36 * distance;

export function gridBehaviour(model: Model, grid: GridBehaviour, all: Members[]): Node[] {
  const view = new GridView(grid, all);
  return [
    ...view.controls(),
    h('div', {class: 'figures'}, view.maps(), ...model.k > 1 ? [view.difference()] : []),
  ];
}

class GridView {
  readonly layout: Layout;
  private context: Context;
  private shown: Shown = 'both';
  private pair: [number, number];
  private kind: Difference = 'actions';
  private readonly mapDrawing = redrawable((width) => this.drawMaps(width));
  private readonly differenceDrawing = redrawable((width) => this.drawDifference(width));
  private readonly sentences = h('ul', {class: 'sentences', 'aria-live': 'polite'});

  constructor(
      private readonly grid: GridBehaviour,
      private readonly all: Members[]) {
    this.layout = new Layout(grid);
    this.context = grid.contexts[0];
    this.pair = mostDifferent(this.context, grid.action_names.length);
  }

  /// Which situation is shown, where there are several.
  controls(): HTMLElement[] {
    const {contexts} = this.grid;
    if (contexts.length < 2) return [];
    const names = contexts.map((c) => `${c.name} (${percent(c.share)} of all steps)`);
    return [h('div', {class: 'controls'}, picker('Situation', names, 0, (index) => {
      this.context = contexts[index];
      this.mapDrawing.redraw();
      this.differenceDrawing.redraw();
    }).element)];
  }

  maps(): HTMLElement {
    const place = this.grid.frame === 'goal'
      ? ' Every trajectory has a map of its own, so places are relative to the goal.' : '';
    const element = figure({
      title: 'Where each policy goes, and what it does there', file: 'policies-on-the-map',
      caption: 'Shade: share of the policy’s steps spent in a cell, on one scale for all. '
        + 'Arrows: the actions it chose there, longer where more frequent; a dot: staying. '
        + `Star: the goal.${this.objectNote()}${place}`,
      draw: this.mapDrawing.draw,
    });
    element.classList.add('wide');
    element.querySelector('.plot')!.before(h('div', {class: 'controls'}, segmented<Shown>(
        'What the maps show', [
          {value: 'both', name: 'Both'}, {value: 'heat', name: 'Where'},
          {value: 'arrows', name: 'Actions'},
        ], this.shown, (shown) => {
          this.shown = shown;
          this.mapDrawing.redraw();
        })));
    return element;
  }

  difference(): HTMLElement {
    const element = figure({
      title: 'Where two policies part', file: 'two-policies',
      caption: 'Actions: the shade is the total variation distance between their choices in a cell '
        + 'both visited; 100%: they never choose the same. Occupancy: who is there more often.',
      draw: this.differenceDrawing.draw,
    });
    element.classList.add('wide');
    const names = this.all.map(({cluster}) => clusterName(cluster));
    element.querySelector('.plot')!.before(h('div', {class: 'controls'},
        ...pairPicker(names, this.pair, (pair) => {
          this.pair = pair;
          this.differenceDrawing.redraw();
        }),
        segmented<Difference>('What is compared', [
          {value: 'actions', name: 'Actions'}, {value: 'occupancy', name: 'Occupancy'},
        ], this.kind, (kind) => {
          this.kind = kind;
          this.differenceDrawing.redraw();
        })));
    return element;
  }

  private objectNote(): string {
    const any = this.grid.contexts.some((context) => context.objects.length);
    return any ? ` Circles with numbers: each ${this.grid.object_name} that is still there.` : '';
  }

  private scenery(): Scenery {
    const place = (cell: number) => this.layout.place(cell);
    return {
      walls: this.grid.walls.map(place),
      goal: this.grid.goal === null ? null : place(this.grid.goal),
      objects: this.context.objects.map(([kind, cell]) => ({...place(cell), kind})),
    };
  }

  private drawMaps(width: number): Node {
    const shares = this.context.clusters.map(({visits}) => {
      const all = sum(visits);
      return visits.map((steps) => (all ? steps / all : 0));
    });
    const most = Math.max(...shares.map((own) => Math.max(...own)));
    const {x} = this.layout.bounds, columns = x[1] - x[0] + 1;
    const least = Math.min(420, width, Math.max(150, 30 + 14 * columns));
    const maps = panels(width, this.all.map((members) => ({
      cluster: members.cluster, title: clusterName(members.cluster), notes: memberNotes(members),
      plot: (each) => this.drawMap(each, members.cluster, shares[members.cluster], most),
    })), least, Math.min(460, Math.max(330, 30 + 30 * columns)));
    return h('div', {}, maps, this.shown === 'arrows' ? null
      : legend('share of the policy’s steps', upTo(most)));
  }

  private drawMap(width: number, cluster: number, shares: number[], most: number): SVGSVGElement {
    const counts = this.context.clusters[cluster], names = this.grid.action_names;
    const visited = shares.map((share, cell) => ({...this.layout.place(cell), share}))
        .filter(({share}) => share > 0)
        .map((p) => ({...p, choices: choices(counts, p.cell, names.length) ?? names.map(() => 0)}));
    const title = (p: Chosen & {share: number}) => [
      this.layout.describe(p.cell),
      `${percent(p.share)} of steps (${count(counts.visits[p.cell])})`,
      inWords(p.choices, names),
    ].join('\n');
    return gridMap({
      label: `Map of ${clusterName(cluster)}: where it goes and which actions it takes`,
      width, bounds: this.layout.bounds, axes: this.layout.axes, scenery: this.scenery(),
      marks: (cell) => [
        Plot.rect(visited, {
          ...square, fill: 'var(--high)', inset: 0.5, title, tip,
          fillOpacity: (p) => (this.shown === 'arrows' ? 0.04 : heat(p.share, most)),
        }),
        this.shown === 'heat' ? null : actionMarks(
            visited, names, cell, {stroke: 'currentColor', width: cell < 26 ? 1.2 : 1.5}),
      ],
    });
  }

  private drawDifference(width: number): Node {
    const [a, b] = this.pair, names = this.grid.action_names;
    const found = disagreements(this.context, a, b, names.length);
    this.sentences.replaceChildren(
        h('li', {}, overallDisagreement(found, a, b)),
        ...disagreementWords(found, this.grid, this.layout, a, b).map((text) => h('li', {}, text)));
    const size = Math.min(width, 440);
    const actions = this.kind === 'actions';
    return h('div', {class: 'beside'},
        h('div', {},
            actions ? pairLegend(this.pair) : null,
            actions ? this.drawActions(size, found) : this.drawOccupancy(size)),
        this.sentences);
  }

  private drawActions(width: number, found: ReturnType<typeof disagreements>): Node {
    const [a, b] = this.pair, names = this.grid.action_names;
    const [first, second] = pairColours(this.pair);
    const places = found.map((d) => ({...d, ...this.layout.place(d.cell)}));
    const title = (d: Place & {a: number[]; b: number[]; distance: number}) => [
      this.layout.describe(d.cell), `differ in ${percent(d.distance)}`,
      `${clusterName(a)}: ${inWords(d.a, names)}`, `${clusterName(b)}: ${inWords(d.b, names)}`,
    ].join('\n');
    const map = gridMap({
      label: `Map of where ${clusterName(a)} and ${clusterName(b)} choose different actions`,
      width, bounds: this.layout.bounds, axes: this.layout.axes, scenery: this.scenery(),
      marks: (cell) => [
        Plot.rect(places, {
          ...square, fill: 'var(--contrast)', inset: 0.5, title, tip,
          fillOpacity: (d) => shade(d.distance),
        }),
        actionMarks(places.map((d) => ({...d, choices: d.a})), names, cell,
            {stroke: first, width: 3, aside: -0.07 * cell}),
        actionMarks(places.map((d) => ({...d, choices: d.b})), names, cell,
            {stroke: second, width: 1.6, aside: 0.07 * cell}),
      ],
    });
    const steps = [0.1, 0.25, 0.5, 1].map((value) => ({
      text: percent(value), colour: 'var(--contrast)', opacity: shade(value),
    }));
    return h('div', {}, map, legend('distance between their choices', steps));
  }

  private drawOccupancy(width: number): Node {
    const [a, b] = this.pair, {clusters} = this.context;
    const [first, second] = pairColours(this.pair);
    const [allA, allB] = [sum(clusters[a].visits), sum(clusters[b].visits)];
    const places = clusters[a].visits.map((steps, cell) => ({
      ...this.layout.place(cell), a: steps / (allA || 1), b: clusters[b].visits[cell] / (allB || 1),
    })).filter((p) => p.a > 0 || p.b > 0).map((p) => ({...p, gain: p.a - p.b}));
    const most = Math.max(...places.map((p) => Math.abs(p.gain)), 0);
    const title = (p: (typeof places)[number]) => [
      this.layout.describe(p.cell), `${clusterName(a)}: ${percent(p.a)} of its steps`,
      `${clusterName(b)}: ${percent(p.b)}`,
    ].join('\n');
    const map = gridMap({
      label: `Map of where ${clusterName(a)} is more often than ${clusterName(b)}, and the reverse`,
      width, bounds: this.layout.bounds, axes: this.layout.axes, scenery: this.scenery(),
      marks: (cell) => [
        Plot.rect(places, {
          ...square, inset: 0.5, title, tip,
          fill: (p) => (p.gain > 0 ? first : second),
          fillOpacity: (p) => heat(Math.abs(p.gain), most),
        }),
        Plot.text(cell < 22 ? [] : places.filter((p) => Math.abs(p.gain) >= 0.2 * most), {
          x: 'x', y: 'y', text: (p) => (p.gain > 0 ? String(a) : String(b)),
        }),
      ],
    });
    return h('div', {}, map, legend(
        `share of steps: ${clusterName(b)} more (−), ${clusterName(a)} more (+)`,
        apart(most, first, second)));
  }
}

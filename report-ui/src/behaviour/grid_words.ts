// Policies on a grid in sentences: what a cluster does, said from its counts alone.
import {sum} from '../contingency';
import {capital, count, percent} from '../format';
import {clusterName} from '../model';
import type {GridBehaviour} from '../record';
import {preferences} from './action_words';
import {choices, weight, type Disagreement} from './grid_data';
import {Layout} from './grid_layout';
import {lasting, othersName, type Members} from './members';
import {words, type Words} from './words';

export function gridWords(grid: GridBehaviour, all: Members[]): Words[] {
  const layout = new Layout(grid);
  return all.map((members) => {
    if (!members.episodes) return words(['has no trajectories']);
    const when = situation(grid, members.cluster);
    const where = region(grid, layout, members.cluster);
    const mark = signature(grid, layout, members.cluster);
    return words([commonActions(grid, members.cluster), lasting(members), when, where, mark],
        mark ?? when ?? where);
  });
}

function commonActions(grid: GridBehaviour, cluster: number): string {
  const names = grid.action_names, totals = names.map(() => 0);
  for (const context of grid.contexts) {
    context.clusters[cluster].actions.forEach((n, i) => { totals[i % names.length] += n; });
  }
  return preferences(totals, names);
}

/// The share of a cluster's steps for which `of` counts them, and the average share of the others.
function shares(
    grid: GridBehaviour, cluster: number, of: (context: number, cell: number) => boolean) {
  const share = (c: number) => {
    let inside = 0, all = 0;
    grid.contexts.forEach((context, i) => context.clusters[c].visits.forEach((steps, cell) => {
      all += steps;
      if (of(i, cell)) inside += steps;
    }));
    return all ? inside / all : 0;
  };
  const others = grid.contexts[0].clusters.map((_, c) => c).filter((c) => c !== cluster);
  return {own: share(cluster), others: sum(others.map(share)) / Math.max(1, others.length)};
}

const worthSaying = 0.08;
const rest = (grid: GridBehaviour, cluster: number) => othersName(
    grid.contexts[0].clusters.length, cluster);

function situation(grid: GridBehaviour, cluster: number): string | null {
  if (grid.contexts.length < 2) return null;
  const [best] = grid.contexts.map((context, i) => ({
    name: context.name, ...shares(grid, cluster, (at) => at === i),
  })).sort((a, b) => (b.own - b.others) - (a.own - a.others));
  if (best.own - best.others < worthSaying) return null;
  return `spends ${percent(best.own)} of its steps with ${best.name}, `
    + `${rest(grid, cluster)} ${percent(best.others)}`;
}

/// The quarter of the map, or of what surrounds the goal, where it is more than the others are.
function region(grid: GridBehaviour, layout: Layout, cluster: number): string | null {
  if (grid.contexts[0].clusters.length < 2) return null;
  const {x, y} = layout.bounds, map = grid.frame === 'map';
  const middle = map ? {x: (x[0] + x[1]) / 2, y: (y[0] + y[1]) / 2} : {x: 0, y: 0};
  const [best] = [[-1, -1], [-1, 1], [1, -1], [1, 1]].map(([down, right]) => ({
    name: map ? `in the ${down < 0 ? 'upper' : 'lower'} ${right < 0 ? 'left' : 'right'}`
      : `${down < 0 ? 'above' : 'below'} and ${right < 0 ? 'left' : 'right'} of the goal`,
    ...shares(grid, cluster, (_, cell) => {
      const place = layout.place(cell);
      return down * (place.y - middle.y) > 0 && right * (place.x - middle.x) > 0;
    }),
  })).sort((a, b) => (b.own - b.others) - (a.own - a.others));
  if (best.own - best.others < worthSaying) return null;
  return `is ${best.name} in ${percent(best.own)} of its steps, `
    + `${rest(grid, cluster)} in ${percent(best.others)}`;
}

/// The action that gives it away: at one cell, taken far more often than by the others there.
function signature(grid: GridBehaviour, layout: Layout, cluster: number): string | null {
  const names = grid.action_names;
  let best: {text: string; worth: number} | null = null;
  for (const context of grid.contexts) {
    const own = context.clusters[cluster], steps = sum(own.visits);
    own.visits.forEach((visits, cell) => {
      if (visits < 10) return;
      const here = choices(own, cell, names.length)!;
      const others = context.clusters.filter((_, c) => c !== cluster)
          .map((other) => choices(other, cell, names.length)).filter((c) => c !== null);
      if (!others.length) return;
      names.forEach((name, a) => {
        const elsewhere = sum(others.map((other) => other[a])) / others.length;
        const worth = (here[a] - elsewhere) * Math.sqrt(visits / steps);
        if (here[a] - elsewhere < 0.2 || worth <= (best?.worth ?? 0)) return;
        const when = grid.contexts.length > 1 ? `, with ${context.name},` : '';
        best = {worth, text: `${layout.at(cell)}${when} it chooses ${name} in `
          + `${percent(here[a])} of visits, ${rest(grid, cluster)} in ${percent(elsewhere)}`};
      });
    });
  }
  return (best as {text: string} | null)?.text ?? null;
}

/// Where two policies disagree most, each place in a sentence: what each mostly does, or how often
/// both do what one of them prefers.
export function disagreementWords(
    found: Disagreement[], grid: GridBehaviour, layout: Layout, a: number, b: number): string[] {
  const most = found.filter((d) => d.distance >= 0.1)
      .sort((p, q) => weight(q) - weight(p)).slice(0, 3);
  if (!most.length) {
    return [found.length
      ? `${clusterName(a)} and ${clusterName(b)} act nearly alike wherever both have been.`
      : `${clusterName(a)} and ${clusterName(b)} have no place in common here.`];
  }
  return most.map((d) => {
    const [here, there] = [apart(d.a, d.b), apart(d.b, d.a)];
    const habits = d.a[here] > 0.5 && d.b[there] > 0.5;
    return `${capital(layout.at(d.cell))}, ${clusterName(a)} ${verb(grid, here)} in `
      + `${percent(d.a[here])} of visits, ${clusterName(b)} `
      + (habits ? `${verb(grid, there)} in ${percent(d.b[there])}.` : `in ${percent(d.b[here])}.`);
  });
}

/// How much of their time the two act differently, in the cells both visit.
export function overallDisagreement(found: Disagreement[], a: number, b: number): string {
  const cells = found.filter((d) => d.distance >= 0.5).length;
  return `${clusterName(a)} and ${clusterName(b)} both visit ${count(found.length)} `
    + `${found.length === 1 ? 'cell' : 'cells'}; in ${count(cells)} of them they act differently `
    + 'at least half of the time.';
}

/// The action that the first prefers most over the second.
function apart(first: number[], second: number[]): number {
  const gains = first.map((share, i) => share - second[i]);
  return gains.indexOf(Math.max(...gains));
}

function verb(grid: GridBehaviour, action: number): string {
  const name = grid.action_names[action];
  if (name === 'stay') return 'stays';
  return ['up', 'down', 'left', 'right'].includes(name) ? `goes ${name}` : `chooses ${name}`;
}

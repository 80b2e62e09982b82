// The restarts beside each other: where they ended, what was merged, and whether they agree.
import * as Plot from '@observablehq/plot';
import {chart} from '../chart';
import {figure} from '../figure';
import {measure, number} from '../format';
import {matrix} from '../matrix';
import type {Model} from '../model';
import {objectiveScale, scaleNote} from './scale';

export function finalFigure({report: {run}}: Model): HTMLElement {
  const merged = run.restarts.some(({merges}) => merges.length > 0);
  const best = run.result.best_restart;
  const values = run.restarts.flatMap(({objective, objective_before_merge: before}) =>
    merged ? [objective, before] : [objective]);
  const row = Math.max(16, Math.min(28, 320 / run.restarts.length));
  return figure({
    title: 'Where the restarts ended', file: 'restarts',
    caption: 'Final objective of every restart; further right is better, and the best is bold.' +
      (merged ? ' Open circles: before merging.' : '') + scaleNote(values),
    draw: (width) => chart('Final objective of every restart', {
      width, height: 60 + row * run.restarts.length, marginLeft: 100, marginRight: 24, marginTop: 8,
      insetLeft: 8, insetRight: 8,
      x: {
        label: 'objective J', grid: true, ticks: Math.max(1, Math.min(4, Math.floor((width - 124) / 110))),
        ...objectiveScale(values, width / 75),
      },
      y: {
        domain: run.restarts.map(({restart}) => restart), label: null, tickSize: 0, type: 'band',
        tickFormat: (restart: number) =>
          restart === best ? `restart ${restart}, best` : `restart ${restart}`,
      },
      marks: [
        merged ? Plot.dot(run.restarts, {
          x: 'objective_before_merge', y: 'restart', r: 4.5, stroke: 'var(--muted)',
          fill: 'var(--ground)',
          title: (d) => `Restart ${d.restart} before merging: ${number(d.objective_before_merge)}`,
        }) : null,
        Plot.dot(run.restarts, {
          x: 'objective', y: 'restart', r: 5,
          fill: ({restart}) => restart === best ? 'var(--text)' : 'var(--faint)',
          title: ({restart, objective}) => `Restart ${restart}: ${number(objective)}`,
        }),
      ],
    }),
  });
}

export function mergesFigure({report: {run}}: Model): HTMLElement | null {
  const best = run.restarts.find(({restart}) => restart === run.result.best_restart);
  if (!best?.merges.length) return null;
  const steps = [
    {name: 'fitted', objective: best.objective_before_merge},
    ...best.merges.map(({from, into, objective}) => ({name: `${from} into ${into}`, objective})),
    {name: 'final', objective: best.objective},
  ].map((step, i) => ({...step, i}));
  const values = steps.map(({objective}) => objective);
  return figure({
    title: 'Merging', file: 'merging',
    caption: 'Objective of the best restart after each merge, with the kept policy as it was, ' +
      'and after the last fit. Where the loss is small, one policy explains two clusters almost as ' +
      'well as two did.' +
      scaleNote(values),
    draw: (width) => chart('Objective after each merge', {
      width, height: 220, marginLeft: 56, marginRight: 24, marginTop: 32,
      insetTop: 20, insetBottom: 12,
      x: {
        domain: steps.map(({i}) => i), type: 'point', label: null, tickSize: 0,
        tickFormat: (i: number) => steps[i].name, tickRotate: steps.length > 7 ? -40 : 0,
      },
      y: {label: 'objective J', grid: true, ...objectiveScale(values)},
      marks: [
        Plot.line(steps, {x: 'i', y: 'objective', stroke: 'var(--faint)', curve: 'step-after'}),
        Plot.dot(steps, {x: 'i', y: 'objective', r: 4, fill: 'var(--text)'}),
        Plot.text(steps, {
          x: 'i', y: 'objective', dy: -14, text: ({objective}) => number(objective),
          stroke: 'var(--ground)', strokeWidth: 4, fill: 'var(--text)',
        }),
      ],
    }),
  });
}

export function agreementFigure({report: {restart_nmi: nmi}}: Model): HTMLElement | null {
  if (!nmi || nmi.length < 2) return null;
  const names = nmi.map((_, i) => String(i));
  const shown = figure({
    title: 'Agreement between restarts', file: 'agreement',
    caption: 'NMI of the labels of every two restarts: 1 where they are the same, 0 where they ' +
      'have nothing to do with each other.',
    draw: (width) => matrix({
      label: 'NMI between restarts', rows: names.map((name) => `restart ${name}`), columns: names,
      columnLabel: null, shade: (a, b) => nmi[a][b],
      text: (a, b) => measure(nmi[a][b]),
    }, width),
  });
  if (nmi.length > 8) shown.classList.add('wide');
  return shown;
}

// Where the time went.
import * as Plot from '@observablehq/plot';
import {chart} from '../chart';
import {figure} from '../figure';
import {duration} from '../format';
import type {Model} from '../model';

const names: Record<string, string> = {
  m_step: 'fitting policies', e_step: 'scoring trajectories', checkpoint: 'saving', fit: 'in all',
};

/// Timings also count rounds and steps.
const isSeconds = (name: string) => !/(rounds|steps)$/.test(name);

export function timeFigure({report: {run}}: Model): HTMLElement | null {
  const parts = Object.entries(run.timings)
    .filter(([name, value]) => isSeconds(name) && Number.isFinite(value))
    .map(([name, seconds]) => ({name: names[name] ?? name.replaceAll('_', ' '), seconds}));
  if (!parts.length) return null;
  const short = Math.max(...parts.map(({seconds}) => seconds)) < 0.1;
  return figure({
    title: 'Time', file: 'time', caption: 'Time in each part of the run, all restarts together.',
    draw: (width) => chart('Time in each part of the run', {
      width, height: 46 + 28 * parts.length, marginLeft: 132, marginRight: 90, marginTop: 4,
      x: {
        label: short ? 'milliseconds' : 'seconds', transform: (t: number) => short ? 1000 * t : t,
        ticks: Math.max(1, Math.round((width - 222) / 75)), zero: true,
      },
      y: {domain: parts.map(({name}) => name), label: null, tickSize: 0, padding: 0.4},
      marks: [
        Plot.barX(parts, {x: 'seconds', y: 'name', fill: 'var(--faint)'}),
        Plot.text(parts, {
          x: 'seconds', y: 'name', dx: 6, textAnchor: 'start', fill: 'var(--text)',
          text: ({seconds}) => duration(seconds),
        }),
      ],
    }),
  });
}

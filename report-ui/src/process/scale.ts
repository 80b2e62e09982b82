// Objectives on one axis, also where they span many orders of magnitude.
import type {ScaleOptions} from '@observablehq/plot';
import {number, short} from '../format';

const span = 1000;
const decades = 6;

/// `most`: how many ticks have room.
export function objectiveScale(objectives: number[], most = Infinity): ScaleOptions {
  const values = objectives.filter(Number.isFinite);
  const [low, high] = extent(values);
  const rounding = 1e-6 * Math.max(Math.abs(low), Math.abs(high));
  if (high > low && high - low < rounding) {
    return {type: 'linear', domain: [low - rounding, high + rounding], ticks: [low], tickFormat: number};
  }
  const [least, largest] = extent(values.map(Math.abs));
  const oneSign = values.every((value) => value <= 0) || values.every((value) => value >= 0);
  if (!oneSign || largest < span * least || largest === 0) {
    return {type: 'linear', tickFormat: near(values) ? number : short};
  }
  const top = Math.floor(Math.log10(largest));
  const sign = values.some((value) => value < 0) ? -1 : 1;
  const constant = 10 ** (top - decades);
  const domain = extent(least < constant ? [...values, 0] : values);
  const apart = Math.max(1, Math.ceil(decades / Math.max(1, most - 1)));
  const powers = Array.from({length: Math.ceil(decades / apart)},
      (_, i) => sign * 10 ** (top - i * apart));
  return {
    type: 'symlog', constant, domain, tickFormat: short,
    ticks: [0, ...powers].filter((tick) => tick >= domain[0] && tick <= domain[1]),
  };
}

/// Least and most; there may be too many for Math.min.
function extent(values: number[]): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 0];
}

/// Whether ticks differ only in digits that short numbers leave out.
function near(values: number[]): boolean {
  const [low, high] = extent(values);
  return high - low < 0.05 * Math.max(Math.abs(low), Math.abs(high));
}

/// Said beside such axes.
export function scaleNote(values: number[]): string {
  return objectiveScale(values).type === 'symlog'
    ? ' The axis is logarithmic towards 0.' : '';
}

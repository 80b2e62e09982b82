// How often every two labels meet.
import type {Numbers} from './column';
import type {Model} from './model';

/// counts[a][b]; negative labels (unknown) are left out.
export function contingency(a: Numbers, b: Numbers, rows: number, columns: number): number[][] {
  const counts = Array.from({length: rows}, () => new Array<number>(columns).fill(0));
  for (let i = 0; i < a.length; ++i) {
    if (a[i] >= 0 && b[i] >= 0) ++counts[a[i]][b[i]];
  }
  return counts;
}

export const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

/// How many true policies there are names for, or numbers of.
export function truthCount(model: Model): number {
  let largest = model.report.episodes.truth_names.length - 1;
  if (model.truth) for (const value of model.truth) largest = Math.max(largest, value);
  return largest + 1;
}

/// The most common label of a row and its share.
export function mostly(row: number[]): {label: number; share: number} | null {
  const total = sum(row);
  if (!total) return null;
  const label = row.indexOf(Math.max(...row));
  return {label, share: row[label] / total};
}

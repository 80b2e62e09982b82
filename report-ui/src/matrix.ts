// A matrix as cells with their numbers written in; darker is more.
import * as Plot from '@observablehq/plot';
import {chart, type Chart} from './chart';

export interface Matrix {
  label: string;
  rows: string[];
  columns: string[];
  columnLabel: string | null;
  /// From 0 to 1: how dark.
  shade: (row: number, column: number) => number;
  /// One or two lines.
  text: (row: number, column: number) => string;
}

interface Cell {
  row: number;
  column: number;
  shade: number;
}

const widest = 120;

export function matrix(matrix: Matrix, width: number): Chart {
  const {rows, columns} = matrix;
  const left = 24 + 7 * Math.min(16, Math.max(...rows.map((name) => name.length)));
  const size = Math.min(widest, (width - left - 8) / columns.length);
  const height = Math.max(26, Math.min(rows.length > 12 ? 32 : 44, size));
  const cells: Cell[] = rows.flatMap((_, row) => columns.map((_, column) => (
    {row, column, shade: Math.max(0, Math.min(1, matrix.shade(row, column)))})));
  const longest = Math.max(...cells.map(({row, column}) => Math.max(
      ...matrix.text(row, column).split('\n').map((line) => line.length))));
  const roomy = size >= 7.5 * longest + 6;
  const slanted = columns.some((name) => 7 * name.length > size);
  const top = slanted ? 108 : matrix.columnLabel ? 44 : 24;
  return chart(matrix.label, {
    width: Math.round(left + 8 + size * columns.length), marginLeft: left, marginRight: 8,
    marginTop: top, marginBottom: 4, height: top + 4 + height * rows.length,
    x: {
      domain: columns.map((_, i) => i), axis: 'top', tickSize: 0, label: matrix.columnLabel,
      labelAnchor: 'left', labelArrow: 'none', tickFormat: (i: number) => brief(columns[i]),
      tickRotate: slanted ? -45 : 0,
    },
    y: {
      domain: rows.map((_, i) => i), tickSize: 0, label: null,
      tickFormat: (i: number) => brief(rows[i]),
    },
    marks: [
      Plot.cell(cells, {x: 'column', y: 'row', fill: 'var(--low)', inset: 0.5}),
      Plot.cell(cells, {
        x: 'column', y: 'row', fill: 'var(--high)', fillOpacity: 'shade', inset: 0.5,
        title: (d: Cell) => `${rows[d.row]}, ${columns[d.column]}: ${matrix.text(d.row, d.column)}`,
      }),
      ...(roomy ? [true, false].map((dark) => Plot.text(
          cells.filter(({shade}) => shade > 0.65 === dark), {
            x: 'column', y: 'row', text: (d: Cell) => matrix.text(d.row, d.column),
            fill: dark ? 'var(--ground)' : 'var(--text)', pointerEvents: 'none',
          })) : []),
    ],
    color: {type: 'identity'},
    opacity: {type: 'identity'},
  });
}

const brief = (name: string) => name.length > 16 ? `${name.slice(0, 15)}…` : name;

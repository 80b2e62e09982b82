// Cells as places: rows and columns of a map, or steps away from the goal.
import {counted} from '../format';
import type {GridBehaviour, GridSetting} from '../record';

export interface Place {
  cell: number;
  x: number;
  y: number;
}

export interface Bounds {
  x: [number, number];
  y: [number, number];
}

export class Layout {
  private readonly side: number;
  private readonly origin: number;
  readonly bounds: Bounds;

  /// Only places relative to the goal need to know where anybody was.
  constructor(private readonly grid: GridSetting & Partial<Pick<GridBehaviour, 'contexts'>>) {
    const around = grid.frame === 'goal';
    this.side = around ? 2 * grid.size - 1 : grid.size;
    this.origin = around ? grid.size - 1 : 0;
    this.bounds = around ? this.visited() : {x: [0, grid.size - 1], y: [0, grid.size - 1]};
  }

  place(cell: number): Place {
    return {
      cell, x: cell % this.side - this.origin, y: Math.floor(cell / this.side) - this.origin,
    };
  }

  /// "row 3, column 4", or "2 rows above and 3 columns left of the goal".
  describe(cell: number): string {
    const {x, y} = this.place(cell);
    if (this.grid.frame === 'map') return `row ${y}, column ${x}`;
    const parts = [
      ...y ? [`${counted(Math.abs(y), 'row')} ${y < 0 ? 'above' : 'below'}`] : [],
      ...x ? [`${counted(Math.abs(x), 'column')} ${x < 0 ? 'left' : 'right'}`] : [],
    ];
    if (!parts.length) return 'the goal';
    return `${parts.join(' and ')}${x ? ' of' : ''} the goal`;
  }

  /// The same inside a sentence: "at row 3, column 4".
  at(cell: number): string {
    const words = this.describe(cell);
    return /^\d/.test(words) ? words : `at ${words}`;
  }

  get axes(): {x: string; y: string} {
    return this.grid.frame === 'map'
      ? {x: 'column', y: 'row'}
      : {x: 'columns right of the goal', y: 'rows below the goal'};
  }

  /// The part of the plane anyone was in, and the goal.
  private visited(): Bounds {
    const cells = new Set([this.origin * this.side + this.origin]);
    for (const {clusters} of this.grid.contexts ?? []) {
      for (const {visits} of clusters) {
        visits.forEach((steps, cell) => steps > 0 && cells.add(cell));
      }
    }
    const places = Array.from(cells, (cell) => this.place(cell));
    const [x, y] = [places.map((p) => p.x), places.map((p) => p.y)];
    return {x: [Math.min(...x), Math.max(...x)], y: [Math.min(...y), Math.max(...y)]};
  }
}

// Where episodes lie in one view, in a shuffled order so that no cluster hides the others, with an
// index for finding the nearest one.
import {decode} from '../column';
import type {MapView} from '../record';

const cells = 256;

/// A fixed shuffle: slot to episode. Any first part of it is a fair sample.
export function shuffled(n: number): Uint32Array {
  const order = Uint32Array.from({length: n}, (_, i) => i);
  let state = 0x9e3779b9;
  for (let i = n - 1; i > 0; --i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor(state / 2 ** 32 * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

export class Points {
  /// [n] by slot, from 0 to 1; y grows upwards.
  readonly x: Float32Array;
  readonly y: Float32Array;
  private readonly start = new Uint32Array(cells * cells + 1);
  private readonly slots: Uint32Array;

  constructor(readonly view: MapView, order: Uint32Array) {
    const points = decode(view.points), n = order.length;
    this.x = new Float32Array(n);
    this.y = new Float32Array(n);
    this.slots = new Uint32Array(n);
    for (let slot = 0; slot < n; ++slot) {
      this.x[slot] = points[2 * order[slot]] / 65535;
      this.y[slot] = points[2 * order[slot] + 1] / 65535;
    }
    this.index();
  }

  /// The nearest slot within a radius, given per axis, that `visible` allows; -1: none.
  nearest(x: number, y: number, radiusX: number, radiusY: number,
      visible: (slot: number) => boolean): number {
    let best = -1, least = 1;
    const [left, right] = [cell(x - radiusX), cell(x + radiusX)];
    const [bottom, top] = [cell(y - radiusY), cell(y + radiusY)];
    for (let row = bottom; row <= top; ++row) {
      const end = this.start[row * cells + right + 1];
      for (let i = this.start[row * cells + left]; i < end; ++i) {
        const slot = this.slots[i];
        const dx = (this.x[slot] - x) / radiusX, dy = (this.y[slot] - y) / radiusY;
        const distance = dx * dx + dy * dy;
        if (distance < least && visible(slot)) [best, least] = [slot, distance];
      }
    }
    return best;
  }

  private index(): void {
    const {x, y, start, slots} = this;
    const at = (slot: number) => cell(y[slot]) * cells + cell(x[slot]);
    for (let slot = 0; slot < x.length; ++slot) ++start[at(slot) + 1];
    for (let i = 0; i < cells * cells; ++i) start[i + 1] += start[i];
    const next = start.slice();
    for (let slot = 0; slot < x.length; ++slot) slots[next[at(slot)]++] = slot;
  }
}

function cell(value: number): number {
  return Math.max(0, Math.min(cells - 1, Math.floor(value * cells)));
}

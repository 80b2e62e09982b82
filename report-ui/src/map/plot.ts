// The map itself: a canvas of points under an overlay of vectors, and what part of it is shown.
import {h} from '../dom';
import {overlay} from './overlay';
import {hidden, Raster, type Paint} from './raster';
import type {Points} from './points';
import type {Outline} from './region';
import {Viewport, type Size} from './viewport';

/// Milliseconds a frame may take before fewer points are drawn in motion.
const patience = 24;
const reach = 10;

export class MapPlot {
  readonly canvas = h('canvas', {tabindex: 0, role: 'img'});
  readonly element: HTMLElement;
  viewport: Viewport;
  /// Told after every drawing.
  onDraw: () => void = () => {};
  private readonly raster = new Raster(this.canvas);
  private readonly above = h('div', {class: 'map-overlay'});
  private size: Size = {width: 0, height: 0};
  private frame = 0;
  private settle = 0;
  private lastFull = 0;
  private outline: Outline = [];
  private selected: number | null = null;

  constructor(private points: Points, private paint: Paint) {
    this.element = h('div', {class: 'map-plot'}, this.canvas, this.above);
    this.viewport = this.fresh();
  }

  resize(width: number): void {
    this.size = {width, height: Math.round(Math.max(320, Math.min(540, 0.72 * width)))};
    this.raster.resize(width, this.size.height);
    this.viewport.resize(this.size);
    this.draw(false);
  }

  show(points: Points): void {
    this.points = points;
    this.outline = [];
    this.viewport = this.fresh();
    this.viewport.resize(this.size);
    this.redraw();
  }

  repaint(paint: Paint): void {
    this.paint = paint;
    this.redraw();
  }

  mark(slot: number | null): void {
    this.selected = slot;
    this.redraw();
  }

  setOutline(outline: Outline): void {
    this.outline = outline;
    this.drawOverlay();
  }

  /// The slot under a place on the screen; -1: none.
  at(x: number, y: number): number {
    const {viewport} = this;
    return this.points.nearest(viewport.valueX(x), viewport.valueY(y), reach / viewport.scaleX,
        reach / viewport.scaleY, (slot) => this.isShown(slot));
  }

  /// The nearest slot some pixels away in a direction; -1: none.
  towards(from: number, dx: number, dy: number): number {
    const {x, y} = this.points, {scaleX, scaleY} = this.viewport;
    let best = -1, least = Infinity;
    for (let slot = 0; slot < x.length; ++slot) {
      const right = (x[slot] - x[from]) * scaleX, down = (y[from] - y[slot]) * scaleY;
      const along = right * dx + down * dy, aside = Math.abs(right * dy) + Math.abs(down * dx);
      const distance = along + 2 * aside;
      if (along < reach || aside > along || distance >= least || !this.isShown(slot)) continue;
      [best, least] = [slot, distance];
    }
    return best;
  }

  /// Where keys start: the slot nearest to the middle; -1: none is shown.
  nearMiddle(): number {
    const [x, y] = this.viewport.middle;
    let best = -1, least = Infinity;
    for (let slot = 0; slot < this.points.x.length; ++slot) {
      const [left, top] = this.place(slot);
      const distance = Math.hypot(left - x, top - y);
      if (distance < least && this.isShown(slot)) [best, least] = [slot, distance];
    }
    return best;
  }

  isShown(slot: number): boolean {
    return this.paint.style[slot] !== hidden;
  }

  /// Where a slot is on the screen.
  place(slot: number): [number, number] {
    return [this.viewport.screenX(this.points.x[slot]), this.viewport.screenY(this.points.y[slot])];
  }

  /// Moves what is shown so that a slot is inside.
  reveal(slot: number): void {
    const [x, y] = this.place(slot);
    const inside = x > 0 && y > 0 && x < this.size.width && y < this.size.height;
    if (!inside) this.viewport.centre(this.points.x[slot], this.points.y[slot]);
    this.redraw();
  }

  /// At the next frame; in motion perhaps with fewer points, and all of them soon after.
  redraw(moving = false): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw(moving));
  }

  private draw(moving: boolean): void {
    if (!this.size.width) return;
    const n = this.points.x.length;
    const shown = n / this.viewport.zoom ** 2;
    const radius = Math.round(2 * Math.max(2, Math.min(6, 260 / Math.sqrt(shown)))) / 2;
    const few = moving && this.lastFull > patience;
    const limit = few ? Math.ceil(n * patience / 2 / this.lastFull) : n;
    const begin = performance.now();
    this.raster.draw(this.points, this.viewport, this.paint, radius, limit);
    if (!few) this.lastFull = performance.now() - begin;
    this.drawOverlay();
    this.onDraw();
    clearTimeout(this.settle);
    if (few) this.settle = window.setTimeout(() => this.redraw(), 150);
  }

  private drawOverlay(): void {
    const {points, selected} = this;
    this.above.replaceChildren(overlay(points.view, this.viewport, this.size, {
      selected: selected === null ? null : [points.x[selected], points.y[selected]],
      outline: this.outline,
    }));
  }

  private fresh(): Viewport {
    const {x, y} = this.points.view;
    const square = x.label === null && y.label === null;
    const margin = square
      ? {left: 12, right: 12, top: 12, bottom: 12}
      : {left: 56, right: 20, top: 28, bottom: 44};
    return new Viewport(this.size, margin, square);
  }
}

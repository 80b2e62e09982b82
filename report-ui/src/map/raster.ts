// Draws many small markers fast: each shape is rasterised once, and its pixels are blended into a
// buffer point by point.
import {shapeCount, shapePath} from './shapes';
import type {Points} from './points';
import type {Viewport} from './viewport';

/// A style with this number is not drawn.
export const hidden = 255;

export interface Paint {
  /// [n] by slot: index into colours.
  style: Uint8Array;
  /// [n] by slot, or null: circles.
  shape: Uint8Array | null;
  /// "#rrggbb"
  colours: string[];
  ground: string;
  opacity: number;
}

interface Sprite {
  dx: Int32Array;
  dy: Int32Array;
  alpha: Uint8Array;
}

export class Raster {
  private readonly context: CanvasRenderingContext2D;
  private sprites: Sprite[] = [];
  private spriteKey = '';
  private image = new ImageData(1, 1);
  private ratio = 1;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d')!;
  }

  resize(width: number, height: number): void {
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }

  /// Draws the first `limit` slots with markers of this radius in CSS pixels.
  draw(points: Points, viewport: Viewport, paint: Paint, radius: number, limit: number): void {
    const reach = Math.ceil(radius * this.ratio * 1.2) + 1;
    this.prepare(radius, paint.opacity, reach);
    const width = this.canvas.width + 2 * reach, height = this.canvas.height + 2 * reach;
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(packed(paint.ground));
    const colours = paint.colours.map(packed);
    const offsets = this.sprites.map(({dx, dy}) => dy.map((down, i) => down * width + dx[i]));
    const {x, y} = points, {style, shape} = paint, {ratio} = this;
    const kx = viewport.scaleX * ratio, ky = -viewport.scaleY * ratio;
    const ox = viewport.screenX(0) * ratio + reach, oy = viewport.screenY(0) * ratio + reach;
    for (let slot = 0; slot < limit; ++slot) {
      if (style[slot] === hidden) continue;
      const column = Math.round(x[slot] * kx + ox), row = Math.round(y[slot] * ky + oy);
      if (column < reach || column >= width - reach) continue;
      if (row < reach || row >= height - reach) continue;
      const kind = shape ? shape[slot] : 0;
      stamp(pixels, row * width + column, offsets[kind], this.sprites[kind].alpha,
          colours[style[slot]]);
    }
    this.context.putImageData(this.image, -reach, -reach);
  }

  private prepare(radius: number, opacity: number, reach: number): void {
    const width = this.canvas.width + 2 * reach, height = this.canvas.height + 2 * reach;
    if (this.image.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
    }
    const key = `${radius} ${opacity} ${this.ratio}`;
    if (key === this.spriteKey) return;
    this.spriteKey = key;
    this.sprites = Array.from({length: shapeCount},
        (_, shape) => sprite(shape, radius * this.ratio, opacity, reach));
  }
}

/// Blends one marker: red and blue together, green apart. With 128 steps of alpha the products fit
/// into 31 bits, which keeps them integers.
function stamp(pixels: Uint32Array, at: number, offsets: Int32Array, alpha: Uint8Array,
    colour: number): void {
  const redBlue = colour & 0xff00ff, green = colour & 0xff00;
  for (let i = 0; i < offsets.length; ++i) {
    const place = at + offsets[i], below = pixels[place], a = alpha[i], b = 128 - a;
    pixels[place] = 0xff000000
      | ((Math.imul(below & 0xff00ff, b) + Math.imul(redBlue, a)) >> 7 & 0xff00ff)
      | ((Math.imul(below & 0xff00, b) + Math.imul(green, a)) >> 7 & 0xff00);
  }
}

function sprite(shape: number, radius: number, opacity: number, reach: number): Sprite {
  const size = 2 * reach + 1;
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [size, size];
  const context = canvas.getContext('2d', {willReadFrequently: true})!;
  context.translate(reach + 0.5, reach + 0.5);
  context.globalAlpha = opacity;
  context.fill(new Path2D(shapePath(shape, radius)));
  const {data} = context.getImageData(0, 0, size, size);
  const inside = Array.from({length: size * size}, (_, i) => i).filter((i) => data[4 * i + 3] > 12);
  return {
    dx: Int32Array.from(inside, (i) => i % size - reach),
    dy: Int32Array.from(inside, (i) => Math.floor(i / size) - reach),
    alpha: Uint8Array.from(inside, (i) => Math.round(data[4 * i + 3] * 128 / 255)),
  };
}

/// "#rrggbb" as the little-endian pixel of ImageData.
function packed(hex: string): number {
  const value = parseInt(hex.slice(1), 16);
  return (0xff000000 | (value & 0xff) << 16 | (value & 0xff00) | value >> 16) >>> 0;
}

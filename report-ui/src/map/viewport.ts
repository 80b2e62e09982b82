// Which part of the unit square is on screen: pixels from values and back.
export interface Size {
  width: number;
  height: number;
}

export interface Margin {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const mostZoom = 400;

export class Viewport {
  zoom = 1;
  private x = 0.5;
  private y = 0.5;

  /// Square views have the same scale on both axes.
  constructor(private size: Size, readonly margin: Margin, private readonly square: boolean) {}

  resize(size: Size): void {
    this.size = size;
  }

  reset(): void {
    [this.zoom, this.x, this.y] = [1, 0.5, 0.5];
  }

  /// Pixels per unit.
  get scaleX(): number {
    return this.zoom * (this.square ? Math.min(this.inner.width, this.inner.height)
      : this.inner.width);
  }

  get scaleY(): number {
    return this.zoom * (this.square ? Math.min(this.inner.width, this.inner.height)
      : this.inner.height);
  }

  screenX(x: number): number {
    return this.margin.left + this.inner.width / 2 + (x - this.x) * this.scaleX;
  }

  screenY(y: number): number {
    return this.margin.top + this.inner.height / 2 - (y - this.y) * this.scaleY;
  }

  valueX(screen: number): number {
    return this.x + (screen - this.margin.left - this.inner.width / 2) / this.scaleX;
  }

  valueY(screen: number): number {
    return this.y - (screen - this.margin.top - this.inner.height / 2) / this.scaleY;
  }

  pan(dx: number, dy: number): void {
    this.centre(this.x - dx / this.scaleX, this.y + dy / this.scaleY);
  }

  /// Keeps what is at this place of the screen where it is.
  zoomAt(factor: number, screenX: number, screenY: number): void {
    const [x, y] = [this.valueX(screenX), this.valueY(screenY)];
    this.zoom = Math.max(1, Math.min(mostZoom, this.zoom * factor));
    this.centre(this.x + x - this.valueX(screenX), this.y + y - this.valueY(screenY));
  }

  centre(x: number, y: number): void {
    const free = this.zoom === 1 ? 0 : 0.5;
    this.x = Math.max(0.5 - free, Math.min(0.5 + free, x));
    this.y = Math.max(0.5 - free, Math.min(0.5 + free, y));
  }

  get middle(): [number, number] {
    return [this.margin.left + this.inner.width / 2, this.margin.top + this.inner.height / 2];
  }

  get inner(): Size {
    const {left, right, top, bottom} = this.margin;
    return {width: this.size.width - left - right, height: this.size.height - top - bottom};
  }
}

// Episodes inside a drawn outline.
import type {Points} from './points';

export type Outline = [number, number][];

/// Slots inside, by the even-odd rule; values as in points.
export function inside(
    points: Points, outline: Outline, visible: (slot: number) => boolean): number[] {
  const xs = outline.map(([x]) => x), ys = outline.map(([, y]) => y);
  const left = Math.min(...xs), right = Math.max(...xs);
  const bottom = Math.min(...ys), top = Math.max(...ys);
  const found: number[] = [];
  for (let slot = 0; slot < points.x.length; ++slot) {
    const x = points.x[slot], y = points.y[slot];
    if (x < left || x > right || y < bottom || y > top || !visible(slot)) continue;
    if (contains(outline, x, y)) found.push(slot);
  }
  return found;
}

function contains(outline: Outline, x: number, y: number): boolean {
  let within = false;
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
    const [ax, ay] = outline[i], [bx, by] = outline[j];
    if (ay > y !== by > y && x < (bx - ax) * (y - ay) / (by - ay) + ax) within = !within;
  }
  return within;
}

// The axis of an episode's steps: whole numbers, from the first to the last.
import type {ScaleOptions} from '@observablehq/plot';

export function stepAxis(steps: number, width: number, label: string | null): ScaleOptions {
  const room = Math.max(2, Math.round(width / 60));
  const size = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((s) => steps / s <= room) ?? 1000;
  const ticks = [1];
  for (let tick = size > 1 ? size : 2; tick <= steps; tick += size) ticks.push(tick);
  return {
    domain: [1, Math.max(2, steps)], ticks, tickFormat: ',d', label, labelAnchor: 'center',
    labelArrow: 'none',
  };
}

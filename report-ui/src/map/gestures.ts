// Mouse, touch, wheel and keys on the map.
import type {MapPlot} from './plot';
import type {Outline} from './region';

export type Tool = 'move' | 'rectangle' | 'lasso';

export interface Hands {
  tool: () => Tool;
  /// The slot under the pointer, or -1.
  hover: (slot: number) => void;
  pick: (slot: number) => void;
  outlined: (outline: Outline) => void;
  /// By keys: one step in a direction.
  step: (dx: number, dy: number) => void;
  /// By keys: the slot that was stepped to.
  pickStepped: () => void;
  clear: () => void;
}

const zoomStep = 1.5;
const clickReach = 4;

export function zoomBy(plot: MapPlot, factor: number): void {
  plot.viewport.zoomAt(factor, ...plot.viewport.middle);
  plot.redraw();
}

export function reset(plot: MapPlot): void {
  plot.viewport.reset();
  plot.redraw();
}

export const zoomIn = (plot: MapPlot) => zoomBy(plot, zoomStep);
export const zoomOut = (plot: MapPlot) => zoomBy(plot, 1 / zoomStep);

export function handle(plot: MapPlot, hands: Hands): void {
  pointer(plot, hands);
  wheel(plot);
  keys(plot, hands);
}

interface Drag {
  tool: Tool;
  from: [number, number];
  last: [number, number];
  path: Outline;
  moved: boolean;
}

function pointer(plot: MapPlot, hands: Hands): void {
  const {canvas} = plot;
  let drag: Drag | null = null;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    const at: [number, number] = [event.offsetX, event.offsetY];
    const tool = event.shiftKey ? 'lasso' : hands.tool();
    drag = {tool, from: at, last: at, path: [at], moved: false};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!drag) return hands.hover(plot.at(event.offsetX, event.offsetY));
    const {offsetX, offsetY} = event, [x, y] = drag.from;
    drag.moved ||= Math.hypot(offsetX - x, offsetY - y) > clickReach;
    if (drag.moved) dragged(plot, drag, offsetX, offsetY, hands);
  });
  canvas.addEventListener('pointerup', (event) => {
    if (drag && !drag.moved) hands.pick(plot.at(event.offsetX, event.offsetY));
    else if (drag && drag.tool !== 'move') hands.outlined(values(plot, drag.path));
    drag = null;
  });
  canvas.addEventListener('pointercancel', () => { drag = null; });
  canvas.addEventListener('pointerleave', () => hands.hover(-1));
}

function dragged(plot: MapPlot, drag: Drag, x: number, y: number, hands: Hands): void {
  hands.hover(-1);
  if (drag.tool === 'move') {
    plot.viewport.pan(x - drag.last[0], y - drag.last[1]);
    plot.redraw(true);
  } else {
    const [left, top] = drag.from;
    if (drag.tool === 'lasso') drag.path.push([x, y]);
    else drag.path = [[left, top], [x, top], [x, y], [left, y]];
    plot.setOutline(values(plot, drag.path));
  }
  drag.last = [x, y];
}

const values = (plot: MapPlot, path: Outline): Outline =>
  path.map(([x, y]) => [plot.viewport.valueX(x), plot.viewport.valueY(y)]);

/// Turning the wheel zooms, but a turn that began elsewhere goes on scrolling the page, and so does
/// one that cannot zoom out further.
function wheel(plot: MapPlot): void {
  let last = 0, ours = false;
  window.addEventListener('wheel', (event) => {
    if (event.timeStamp - last > 250) ours = event.target === plot.canvas;
    last = event.timeStamp;
  }, {capture: true, passive: true});
  plot.canvas.addEventListener('wheel', (event) => {
    if (!ours || (event.deltaY > 0 && plot.viewport.zoom === 1)) return;
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? event.deltaY * 20 : event.deltaY;
    plot.viewport.zoomAt(2 ** (-Math.max(-200, Math.min(200, pixels)) / 200),
        event.offsetX, event.offsetY);
    plot.redraw(true);
  }, {passive: false});
}

function keys(plot: MapPlot, hands: Hands): void {
  const actions: Record<string, () => void> = {
    ArrowLeft: () => hands.step(-1, 0), ArrowRight: () => hands.step(1, 0),
    ArrowUp: () => hands.step(0, -1), ArrowDown: () => hands.step(0, 1),
    Enter: hands.pickStepped, Escape: hands.clear,
    '+': () => zoomIn(plot), '=': () => zoomIn(plot), '-': () => zoomOut(plot),
    '0': () => reset(plot),
  };
  plot.canvas.addEventListener('keydown', (event) => {
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
}

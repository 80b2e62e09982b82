// For figure(): a drawing that can also be asked for when a control changes it.
export interface Redrawable {
  draw: (width: number) => HTMLElement;
  redraw: () => void;
}

export function redrawable(draw: (width: number) => Node): Redrawable {
  const box = document.createElement('div');
  let width = 0;
  const redraw = () => {
    if (width > 0) box.replaceChildren(draw(width));
  };
  return {
    redraw,
    draw: (now) => {
      width = now;
      redraw();
      return box;
    },
  };
}

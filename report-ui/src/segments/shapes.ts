// SVG by hand, where a chart would be thousands of marks.
const space = 'http://www.w3.org/2000/svg';

function shape<T extends keyof SVGElementTagNameMap>(
    tag: T, attributes: Record<string, string | number>): SVGElementTagNameMap[T] {
  const element = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/// A picture that says what it shows.
export function svg(width: number, height: number, words: string): SVGSVGElement {
  return shape('svg', {
    width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': words,
  });
}

export function rect(
    x: number, y: number, width: number, height: number, fill: string): SVGRectElement {
  return shape('rect', {x: x.toFixed(2), y, width: width.toFixed(2), height, fill});
}

export function label(
    x: number, y: number, text: string, anchor: 'start' | 'middle' | 'end'): SVGTextElement {
  const element = shape('text', {
    x: x.toFixed(2), y, 'text-anchor': anchor, 'font-size': 12, fill: 'var(--text)',
  });
  element.textContent = text;
  return element;
}

// Marker shapes of true policies: on canvases, and as paths in legends.
export const shapeNames =
    ['circle', 'square', 'triangle', 'diamond', 'plus', 'cross', 'star'] as const;

const plus = [[-1, 3], [1, 3], [1, 1], [3, 1], [3, -1], [1, -1], [1, -3], [-1, -3], [-1, -1],
  [-3, -1], [-3, 1], [-1, 1]].map(([x, y]) => [x / 3, y / 3]);
const star = Array.from({length: 10}, (_, i) => {
  const radius = i % 2 ? 0.45 : 1.15, angle = -Math.PI / 2 + i * Math.PI / 5;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
});
const outlines: (number[][] | null)[] = [
  null,
  [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  [[0, -1.1], [1.05, 0.8], [-1.05, 0.8]],
  [[0, -1.15], [1.15, 0], [0, 1.15], [-1.15, 0]],
  plus,
  plus.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]),
  star,
];

export const shapeCount = outlines.length;

/// As an SVG path around (0, 0).
export function shapePath(shape: number, radius: number): string {
  const outline = outlines[shape % shapeCount];
  if (!outline) {
    return `M${-radius},0a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ` +
      `${-2 * radius},0Z`;
  }
  return `M${outline.map(([x, y]) => `${x * radius},${y * radius}`).join('L')}Z`;
}

/// A small picture of it, for legends.
export function shapeIcon(shape: number, fill: string): SVGSVGElement {
  const make = (tag: string, attributes: Record<string, string>) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const svg = make('svg', {
    class: 'shape', viewBox: '-6 -6 12 12', width: '12', height: '12', 'aria-hidden': 'true',
  });
  svg.append(make('path', {d: shapePath(shape, 4.6), style: `fill: ${fill}`}));
  return svg as SVGSVGElement;
}

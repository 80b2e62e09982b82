// A drawn figure as one SVG that looks the same in any viewer: colours and fonts are inlined,
// canvases become rasters, and text and coloured boxes of HTML become text and rectangles.
const namespace = 'http://www.w3.org/2000/svg';
const margin = 16;

const inherited = [
  'fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray',
  'stroke-linecap', 'stroke-linejoin', 'font-family', 'font-size', 'font-weight', 'font-style',
  'font-variant-numeric', 'text-anchor', 'paint-order', 'visibility',
];
const own: [string, string][] = [
  ['opacity', '1'], ['display', 'inline'], ['mix-blend-mode', 'normal'],
];

export interface Snapshot {
  svg: SVGSVGElement;
  width: number;
  height: number;
}

/// With its key, if there is one, to the right.
export function snapshot(root: Element, title: string, key?: Element): Snapshot {
  const box = root.getBoundingClientRect(), side = key?.getBoundingClientRect();
  const style = getComputedStyle(root);
  const top = margin + 28;
  const width = Math.ceil(box.width + (side ? side.width + margin : 0)) + 2 * margin;
  const height = Math.ceil(Math.max(box.height, side?.height ?? 0)) + top + margin;
  const svg = make('svg', {
    xmlns: namespace, width, height, viewBox: `0 0 ${width} ${height}`,
    'font-family': style.fontFamily, 'font-size': style.fontSize,
  }) as SVGSVGElement;
  svg.append(make('rect', {width, height, fill: ground()}));
  svg.append(make('text',
      {x: margin, y: margin + 12, 'font-size': 15, 'font-weight': 600, fill: style.color}, title));
  visit(root, {left: box.left - margin, top: box.top - top}, svg);
  if (key && side) {
    visit(key, {left: side.left - box.width - 2 * margin, top: side.top - top}, svg);
  }
  return {svg, width, height};
}

export function ground(): string {
  return getComputedStyle(document.body).backgroundColor;
}

interface Frame {
  left: number;
  top: number;
}

function make(tag: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const element = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

function visit(element: Element, frame: Frame, svg: SVGElement): void {
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  if (style.display === 'none' || style.visibility === 'hidden' || !box.width) return;
  if (element.closest('[data-no-export]')) return;
  const place = {
    x: box.left - frame.left, y: box.top - frame.top, width: box.width, height: box.height,
  };
  if (element instanceof SVGSVGElement) {
    svg.append(inlined(element, place));
  } else if (element instanceof HTMLCanvasElement) {
    svg.append(make('image', {...place, href: element.toDataURL()}));
  } else {
    if (style.backgroundColor !== 'rgba(0, 0, 0, 0)') {
      const round = Math.min(parseFloat(style.borderRadius) || 0, box.width / 2);
      svg.append(make('rect', {...place, rx: round, fill: style.backgroundColor}));
    }
    for (const child of element.childNodes) {
      if (child instanceof Element) visit(child, frame, svg);
      else if (child instanceof Text) svg.append(...lines(child, style, frame));
    }
  }
}

/// The lines a piece of text is broken into, each where it stands.
function lines(node: Text, style: CSSStyleDeclaration, frame: Frame): SVGElement[] {
  const found: {text: string; box: DOMRect}[] = [];
  const range = document.createRange();
  for (const word of node.data.matchAll(/\S+\s*/g)) {
    range.setStart(node, word.index!);
    range.setEnd(node, word.index! + word[0].length);
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    const last = found[found.length - 1];
    if (last && Math.abs(last.box.top - box.top) < 2) last.text += word[0];
    else found.push({text: word[0], box});
  }
  return found.map(({text, box}) => make('text', {
    x: box.left - frame.left, y: box.top - frame.top + box.height * 0.78, fill: style.color,
    'font-size': style.fontSize, 'font-weight': style.fontWeight, 'font-family': style.fontFamily,
  }, text.trimEnd()));
}

function inlined(svg: SVGSVGElement, place: Record<string, number>): SVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  inline(svg, copy, null);
  for (const style of copy.querySelectorAll('style')) style.remove();
  for (const [name, value] of Object.entries(place)) copy.setAttribute(name, String(value));
  copy.setAttribute('overflow', 'visible');
  return copy;
}

function inline(from: Element, to: Element, parent: CSSStyleDeclaration | null): void {
  const style = getComputedStyle(from);
  to.removeAttribute('style');
  to.removeAttribute('class');
  for (const name of inherited) {
    const value = style.getPropertyValue(name);
    if (!parent || parent.getPropertyValue(name) !== value) to.setAttribute(name, value);
    else to.removeAttribute(name);
  }
  for (const [name, usual] of own) {
    const value = style.getPropertyValue(name);
    // Viewers know mix-blend-mode only as a style.
    if (name === 'mix-blend-mode' && value !== usual) to.setAttribute('style', `${name}: ${value}`);
    else if (value !== usual && parent) to.setAttribute(name, value);
  }
  for (let i = 0; i < from.children.length; ++i) inline(from.children[i], to.children[i], style);
}

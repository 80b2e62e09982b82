// A plot in the page's type, with words for those who do not see it.
import * as Plot from '@observablehq/plot';

export function chart(label: string, options: Plot.PlotOptions): SVGElement | HTMLElement {
  const margins = {marginTop: 28, marginBottom: 42};
  const element = Plot.plot({...margins, ...options, style: {fontSize: '12px'}});
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', label);
  return element;
}

// A plot in the page's type, with words for those who do not see it.
import * as Plot from '@observablehq/plot';

/// Its scales can be asked for afterwards.
export type Chart = SVGSVGElement & Plot.Plot;

/// The options may not ask for a legend or a title, around which Plot would put a figure.
export function chart(label: string, options: Plot.PlotOptions): Chart {
  const margins = {marginTop: 28, marginBottom: 42};
  const element = Plot.plot({...margins, ...options, style: {fontSize: '12px'}});
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', label);
  return element as unknown as Chart;
}

/// How tips look: lines apart, and a quiet border.
export const tip = {lineHeight: 1.35, stroke: 'var(--faint)', textPadding: 9};

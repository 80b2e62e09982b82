// The page's chart, whose scales can be asked afterwards.
import type * as Plot from '@observablehq/plot';
import {chart as drawn} from '../chart';

export type Chart = SVGSVGElement & Plot.Plot;

/// Options without a legend or a title give an SVG and nothing around it.
export function chart(label: string, options: Plot.PlotOptions): Chart {
  return drawn(label, options) as unknown as Chart;
}

/// How tips look: lines apart, and a quiet border.
export const tip = {lineHeight: 1.35, stroke: 'var(--faint)', textPadding: 9};

// Sequential and diverging scales as opacity of one colour, so that every theme shows them alike,
// and their legends.
import * as Plot from '@observablehq/plot';
import {chart} from '../chart';
import {percent} from '../format';

const faintest = 0.07, strongest = 0.62;

/// Ink stays readable on the strongest. The root shows rare places too.
export function heat(value: number, most: number): number {
  return most > 0 && value > 0
    ? faintest + (strongest - faintest) * Math.sqrt(Math.min(1, value / most)) : 0;
}

export interface Step {
  text: string;
  colour: string;
  opacity: number;
}

/// Boxes from weak to strong above their values.
export function legend(label: string, steps: Step[]): SVGSVGElement {
  const box = 52, width = Math.max(box * steps.length, 7 * label.length);
  return chart(`Scale: ${label}`, {
    width, height: 50, marginTop: 0, marginRight: 0, marginBottom: 0, marginLeft: 0,
    x: {axis: null, domain: [0, width]}, y: {axis: null, domain: [50, 0]},
    opacity: {type: 'identity'}, color: {type: 'identity'},
    marks: [
      Plot.text([label], {x: 0, y: 8, text: (d) => d, textAnchor: 'start', fill: 'var(--muted)'}),
      Plot.rect(steps, {
        x1: (_, i) => i * box, x2: (_, i) => (i + 1) * box, y1: 18, y2: 30, insetRight: 1,
        fill: 'colour', fillOpacity: 'opacity',
      }),
      Plot.text(steps, {
        x: (_, i) => (i + 0.5) * box, y: 41, text: 'text', fill: 'var(--muted)',
      }),
    ],
  });
}

/// Four steps that end at the largest value.
export function upTo(most: number, colour = 'var(--high)'): Step[] {
  return [0.05, 0.25, 0.5, 1].map((share) => ({
    text: percent(share * most), colour, opacity: heat(share * most, most),
  }));
}

/// From "the second has more" over nothing to "the first has more".
export function apart(most: number, first: string, second: string): Step[] {
  const step = (share: number, colour: string, sign: string): Step => ({
    text: sign + percent(share * most), colour, opacity: heat(share * most, most),
  });
  return [
    step(1, second, '−'), step(0.4, second, '−'), step(0.1, second, '−'),
    step(0.1, first, '+'), step(0.4, first, '+'), step(1, first, '+'),
  ];
}

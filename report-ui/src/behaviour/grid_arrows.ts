// Actions in a cell as arrows from its middle, longer where more frequent; staying is a dot.
import * as Plot from '@observablehq/plot';
import type {Place} from './grid_layout';

export const turns: Record<string, number> = {up: 0, right: 90, down: 180, left: 270};
const rarest = 0.03;
const longest = 0.8;  // of a cell

export interface Chosen extends Place {
  /// Shares of the actions.
  choices: number[];
}

interface Look {
  stroke: string;
  width: number;
  /// In pixels down or to the right, across the arrow: two policies' arrows do not cover each other.
  aside?: number;
}

interface Part extends Place {
  share: number;
  turn: number | undefined;
}

export function actionMarks(
    cells: Chosen[], names: string[], cell: number, look: Look): Plot.Markish[] {
  const parts = cells.flatMap(({choices, ...place}) => choices.map(
      (share, i): Part => ({...place, share, turn: turns[names[i]]})))
      .filter((part) => part.share >= rarest);
  const arrows = parts.filter((part) => part.turn !== undefined);
  const byTurn = Object.values(turns).map((turn) => arrows.filter((part) => part.turn === turn));
  return [
    ...byTurn.map((same) => arrowsOf(same, cell, look)),
    Plot.dot(parts.filter((part) => part.turn === undefined), {
      x: 'x', y: 'y', r: (part: Part) => Math.max(1, 0.22 * cell * Math.sqrt(part.share)),
      fill: look.stroke, fillOpacity: 0.9, dx: look.aside ?? 0,
    }),
  ];
}

function arrowsOf(same: Part[], cell: number, {stroke, width, aside = 0}: Look): Plot.Markish {
  const angle = (same[0]?.turn ?? 0) * Math.PI / 180;
  const [across, along] = [Math.sin(angle), Math.cos(angle)];
  return Plot.vector(same, {
    x: (part: Part) => part.x - across * back(part.share),
    y: (part: Part) => part.y + along * back(part.share),
    rotate: 'turn', anchor: 'start', stroke, strokeWidth: width, strokeLinecap: 'round',
    length: (part: Part) => Math.max(3, longest * cell * part.share),
    r: 6, dx: aside * Math.abs(along), dy: aside * Math.abs(across),
  });
}

/// A rare action starts in the middle; an arrow that is alone in its cell is centred.
function back(share: number): number {
  return Math.max(0, 2 * share - 1) * longest * share / 2;
}

/// "right 97%, down 3%", most frequent first.
export function inWords(choices: number[], names: string[]): string {
  return choices.map((share, i) => ({share, name: names[i]})).filter(({share}) => share >= 0.005)
      .sort((a, b) => b.share - a.share)
      .map(({share, name}) => `${name} ${Math.round(100 * share)}%`).join(', ');
}

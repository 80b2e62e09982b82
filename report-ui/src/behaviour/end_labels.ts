// Numbers of policies at the ends of their lines.
import * as Plot from '@observablehq/plot';

export interface End {
  x: number;
  y: number;
  cluster: number;
}

/// Room they need at the right of a chart.
export const endRoom = 34;

/// Ends nearer than `near` (in x and y) share a place, so that no number covers another.
export function endLabels(ends: End[], near: {x: number; y: number}): Plot.Markish {
  const groups: End[][] = [];
  for (const end of [...ends].sort((a, b) => a.y - b.y)) {
    const last = groups[groups.length - 1], before = last?.[last.length - 1];
    if (before && end.y - before.y < near.y && Math.abs(end.x - before.x) < near.x) last.push(end);
    else groups.push([end]);
  }
  return Plot.text(groups, {
    x: (group: End[]) => Math.max(...group.map((end) => end.x)),
    y: (group: End[]) => group.reduce((sum, end) => sum + end.y, 0) / group.length,
    text: name, textAnchor: 'start', dx: 6, fontWeight: 600,
  });
}

function name(group: End[]): string {
  const clusters = group.map((end) => end.cluster).sort((a, b) => a - b);
  return clusters.length > 2 ? `${clusters[0]}, ${clusters[1]} …` : clusters.join(', ');
}

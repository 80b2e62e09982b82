// Numbers of policies at the ends of their lines, so that none covers another.
import * as Plot from '@observablehq/plot';

export interface End {
  x: number;
  y: number;
  cluster: number;
}

interface Label {
  x: number;
  y: number;
  text: string;
}

/// Room they need at the right of a chart.
export const endRoom = 34;
const mostMoved = 8;

/// `near`: the width and height of a label, in units of the scales.
export function endLabels(ends: End[], near: {x: number; y: number}): Plot.Markish {
  const labels = ends.length > mostMoved ? shared(ends, near.y) : movedApart(ends, near);
  return Plot.text(labels, {
    x: 'x', y: 'y', text: 'text', textAnchor: 'start', dx: 6, fontWeight: 600,
  });
}

/// Each its own, moved up or down where lines end too near to one another.
function movedApart(ends: End[], near: {x: number; y: number}): Label[] {
  const columns = new Map<number, End[]>();
  for (const end of ends) {
    const column = Number.isFinite(near.x) ? Math.round(end.x / near.x) : 0;
    columns.set(column, [...columns.get(column) ?? [], end]);
  }
  return [...columns.values()].flatMap((column) => stacked(column, near.y));
}

/// Labels that touch form a block around the middle of their lines; blocks that touch become one.
function stacked(ends: End[], gap: number): Label[] {
  const middle = (block: End[]) => block.reduce((sum, end) => sum + end.y, 0) / block.length;
  const blocks: End[][] = [];
  for (const end of [...ends].sort((a, b) => a.y - b.y || b.cluster - a.cluster)) {
    let block = [end];
    for (let last = blocks[blocks.length - 1]; last
        && middle(block) - middle(last) < gap * (block.length + last.length) / 2;
      last = blocks[blocks.length - 1]) {
      block = [...blocks.pop()!, ...block];
    }
    blocks.push(block);
  }
  return blocks.flatMap((block) => block.map((end, i) => ({
    x: end.x, y: middle(block) + (i - (block.length - 1) / 2) * gap, text: String(end.cluster),
  })));
}

/// One label for all that end near one another: there are too many to give each its own.
function shared(ends: End[], gap: number): Label[] {
  const groups: End[][] = [];
  for (const end of [...ends].sort((a, b) => a.y - b.y)) {
    const last = groups[groups.length - 1];
    if (last && end.y - last[last.length - 1].y < gap) last.push(end);
    else groups.push([end]);
  }
  return groups.map((group) => {
    const clusters = group.map((end) => end.cluster).sort((a, b) => a - b);
    return {
      x: Math.max(...group.map((end) => end.x)),
      y: group.reduce((sum, end) => sum + end.y, 0) / group.length,
      text: clusters.length > 2 ? `${clusters[0]}, ${clusters[1]} …` : clusters.join(', '),
    };
  });
}

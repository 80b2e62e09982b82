// A line across a chart that moves with the step, without drawing the chart again.
import type {Chart} from '../chart';

export type Cursor = (x: number) => void;

export function cursor(chart: Chart): Cursor {
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
  const [x, y] = [chart.scale('x')!, chart.scale('y')!];
  const [from, to] = y.range as number[];
  line.setAttribute('class', 'cursor');
  line.setAttribute('y1', String(from));
  line.setAttribute('y2', String(to));
  chart.append(line);
  return (at) => {
    const pixels = String(x.apply(at));
    line.setAttribute('x1', pixels);
    line.setAttribute('x2', pixels);
  };
}

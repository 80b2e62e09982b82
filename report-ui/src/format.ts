// Numbers as people read them. What is missing or not finite becomes a dash.
type Value = number | null | undefined;

const dash = '–';
const minus = (text: string) => text.replace(/-/g, '−');
const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const significant = new Intl.NumberFormat('en', {maximumSignificantDigits: 4});

function finite(value: Value): value is number {
  return value != null && Number.isFinite(value);
}

/// 12,345
export function count(value: Value): string {
  return finite(value) ? minus(whole.format(value)) : dash;
}

/// Four significant digits; powers of ten where there would be many zeros.
export function number(value: Value): string {
  if (!finite(value)) return dash;
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) {
    return minus(value.toExponential(2).replace('e+', 'e'));
  }
  return minus(size >= 1e4 ? whole.format(value) : significant.format(value));
}

/// 1.3M, 45k: for axes and narrow places.
export function short(value: Value): string {
  if (!finite(value)) return dash;
  const size = Math.abs(value);
  for (const [unit, suffix] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as const) {
    if (size >= unit) return minus(`${Number((value / unit).toPrecision(3))}${suffix}`);
  }
  return minus(String(Number(value.toPrecision(3))));
}

/// How ticks from `low` to `high` are written: never long, never two alike.
export function ticksFor(low: number, high: number): (value: number) => string {
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (!(size > 0) || !Number.isFinite(size)) return (value) => minus(String(value));
  const power = Math.floor(Math.log10(size));
  const finest = Math.floor(Math.log10((high - low) / 10 || size));
  if (power >= -3 && power < 5) {
    const digits = Math.max(0, Math.min(8, -finest));
    return (value) => minus(size >= 1e4 ? whole.format(value) : String(Number(value.toFixed(digits))));
  }
  const digits = Math.max(0, Math.min(6, power - finest));
  return (value) => minus(value === 0 ? '0'
    : value.toExponential(digits).replace(/\.?0*e\+?/, 'e'));
}

/// A measure between 0 and 1, such as NMI: 0.926. Only 1 itself is shown as 1.
export function measure(value: Value): string {
  if (!finite(value)) return dash;
  if (Math.abs(value - 1) < 1e-9) return '1';
  if (value < 1 && value > 0.9995) return '>0.999';
  return minus(value.toFixed(3).replace(/^-(0\.0+)$/, '$1'));
}

/// 0.1234 as 12.3%
export function percent(value: Value): string {
  if (!finite(value)) return dash;
  const points = 100 * value;
  if (points > 0 && points < 0.1) return '<0.1%';
  if (points < 100 && points > 99.9) return '>99.9%';
  return minus(`${points > 0 && points < 10 ? points.toFixed(1) : Math.round(points)}%`);
}

/// 4.4 s, 3 min 12 s, 2 h 5 min
export function duration(seconds: Value): string {
  if (!finite(seconds)) return dash;
  if (seconds < 0.1) return `${Number((1000 * seconds).toPrecision(2))} ms`;
  if (seconds < 60) return `${Number(seconds.toPrecision(2))} s`;
  const total = Math.round(seconds);
  if (total < 3600) return `${Math.floor(total / 60)} min ${total % 60} s`;
  return `${Math.floor(total / 3600)} h ${Math.round(total % 3600 / 60)} min`;
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/// "1 policy", "5 policies"
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

// Numbers that travel as base64.
import type {Column, RoughColumn} from './record';

export type Numbers =
  Uint8Array | Uint16Array | Uint32Array | Int16Array | Int32Array | Float32Array;

const arrays = {
  u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i16: Int16Array, i32: Int32Array,
  f32: Float32Array,
};

export function decode(column: Column): Numbers {
  if (column.type === 'same') return new Float32Array(column.count).fill(column.value);
  if (column.type === 'q16') return stretched(new Uint16Array(bytes(column.data)), column);
  return new arrays[column.type](bytes(column.data));
}

function bytes(data: string): ArrayBuffer {
  const text = atob(data);
  const all = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) all[i] = text.charCodeAt(i);
  return all.buffer;
}

function stretched(steps: Uint16Array, {low, high}: RoughColumn): Float32Array {
  const last = 65532, beyond = [-Infinity, Infinity, NaN], size = (high - low) / last;
  return Float32Array.from(steps, (step) => step > last ? beyond[step - last - 1] : low + step * size);
}

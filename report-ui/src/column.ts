// Numbers that travel as base64.
import type {Column} from './record';

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array;

const arrays = {
  u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array,
};

export function decode(column: Column): Numbers {
  const text = atob(column.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return new arrays[column.type](bytes.buffer);
}

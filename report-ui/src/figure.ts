// A plot with its title, caption and downloads: what every section shows its pictures in.
import {h} from './dom';

export interface Figure {
  title: string;
  /// One sentence: how to read it.
  caption?: string;
  /// Of downloaded files, without ending: "returns".
  file: string;
  /// An SVG or a canvas, or what contains one; asked for again when the theme changes.
  draw: () => HTMLElement | SVGElement;
}

export function figure(_: Figure): HTMLElement {
  return h('figure');
}

// A patch of a cluster's colour, beside its name.
import {h} from './dom';
import {clusterColour} from './palette';

export function swatch(cluster: number, colour = clusterColour(cluster)): HTMLElement {
  return h('span', {class: 'swatch', style: `background: ${colour}`});
}

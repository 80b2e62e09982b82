// "Look at these": episodes a person should see, and a player that shows them step by step.
import './look.css';
import {h} from '../dom';
import type {Model} from '../model';
import {section} from '../section';
import {Lists} from './lists';
import {Player} from './player';

export function lookSection(model: Model): HTMLElement {
  const player = new Player(model);
  const lists = new Lists(model, (episode) => {
    model.select(episode);
    reveal(player.element);
  });
  const empty = h('p', {class: 'note'}, 'Choose a trajectory on the map to see it here.');
  const place = h('div', {}, lists.first === null ? empty : player.element);
  if (lists.first !== null) {
    player.open(lists.first);
    lists.mark(lists.first);
  }
  model.onSelect((episode) => {
    if (episode === null) return;
    place.replaceChildren(player.element);
    player.open(episode);
    lists.mark(episode);
  });
  return section('look', 'Look at these',
      h('p', {class: 'lead'}, 'Trajectories worth a look. Choose one here or on the map, then '
        + 'step through it with the arrow keys.'),
      h('div', {class: 'look'}, lists.first === null ? null : lists.element, place));
}

/// On narrow screens the player stands below the list, out of sight.
function reveal(element: HTMLElement): void {
  const {top} = element.getBoundingClientRect();
  if (top > window.innerHeight * 0.7) element.scrollIntoView({block: 'start'});
}

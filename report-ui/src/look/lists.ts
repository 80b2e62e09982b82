// Lists of episodes worth a look, one shown at a time as a table to choose from.
import {picker} from '../behaviour/picker';
import {h} from '../dom';
import {count, number} from '../format';
import {clusterName, type Model} from '../model';
import type {NotableList} from '../record';
import {swatch} from '../swatch';

const mostOfPolicy = 20;

export class Lists {
  readonly element: HTMLElement;
  private readonly lists: NotableList[];
  private readonly explanation = h('p', {class: 'note'});
  private readonly table = h('div', {class: 'scroll'});
  private chosen: number | null = null;

  constructor(private readonly model: Model, private readonly choose: (episode: number) => void) {
    this.lists = model.isAlternative ? byPolicy(model)
      : [...model.report.notable.filter((list) => list.episodes.length), ...rest(model)];
    const names = this.lists.map((list) => `${list.title} (${count(list.episodes.length)})`);
    this.element = h('div', {class: 'lists'},
        picker('List', names, 0, (index) => this.show(this.lists[index])).element,
        this.explanation, this.table);
    if (this.lists.length) this.show(this.lists[0]);
  }

  get first(): number | null {
    return this.lists[0]?.episodes[0] ?? null;
  }

  mark(episode: number | null): void {
    this.chosen = episode;
    for (const row of this.table.querySelectorAll('tr[data-episode]')) {
      const own = (row as HTMLElement).dataset.episode === String(episode);
      if (own) row.setAttribute('aria-current', 'true');
      else row.removeAttribute('aria-current');
    }
  }

  private show(list: NotableList): void {
    const {model} = this;
    const [first] = list.episodes;
    const returns = list.episodes.some((e) => model.returns?.[e] !== model.returns?.[first]);
    const truth = list.episodes.some((e) => (model.truth?.[e] ?? -1) >= 0);
    this.explanation.textContent = list.explanation;
    this.table.replaceChildren(h('table', {class: 'episodes'},
        h('thead', {}, h('tr', {},
            ...['Episode', 'Policy'].map((name) => h('th', {scope: 'col'}, name)),
            truth && h('th', {scope: 'col'}, 'Made by'),
            h('th', {scope: 'col', class: 'number'}, 'Steps'),
            returns && h('th', {scope: 'col', class: 'number'}, 'Return'),
            model.margin && h('th', {
              scope: 'col', class: 'number', title: 'Score under its policy less the best of the others',
            }, 'Margin'))),
        h('tbody', {}, ...list.episodes.map((e) => this.row(e, truth, returns)))));
    this.mark(this.chosen);
  }

  private row(episode: number, truth: boolean, returns: boolean): HTMLElement {
    const {model} = this, label = model.label[episode];
    return h('tr', {'data-episode': episode, click: () => this.choose(episode)},
        h('td', {}, h('button', {
          type: 'button', class: 'plain', 'aria-label': `Play episode ${model.id(episode)}`,
        }, model.id(episode))),
        h('td', {title: clusterName(label)}, swatch(label), String(label)),
        truth && h('td', {}, model.truthName(model.truth![episode])),
        h('td', {class: 'number'}, count(model.length[episode])),
        returns && h('td', {class: 'number'}, number(model.returns![episode])),
        model.margin && h('td', {class: 'number'}, margin(model.margin[episode], model.k)));
  }
}

function margin(value: number, k: number): string {
  if (value === Infinity && k > 1) return '∞';
  if (value > 0 && value < 0.001) return '<0.001';
  return number(Number(value.toPrecision(3)));
}

/// Without scores none is more remarkable than others: some of each policy that the report holds.
function byPolicy(model: Model): NotableList[] {
  return Array.from({length: model.k}, (_, cluster) => ({
    id: `policy-${cluster}`, title: clusterName(cluster), cluster,
    explanation: 'Some of its trajectories.',
    episodes: model.report.trajectories.map((t) => t.episode)
        .filter((e) => model.label[e] === cluster).slice(0, mostOfPolicy),
  })).filter((list) => list.episodes.length);
}

/// What the report also holds and no list names.
function rest(model: Model): NotableList[] {
  const named = new Set(model.report.notable.flatMap((list) => list.episodes));
  const episodes = model.report.trajectories.map((t) => t.episode).filter((e) => !named.has(e))
      .sort((a, b) => model.label[a] - model.label[b] || a - b);
  return episodes.length ? [{
    id: 'rest', title: 'More of every policy', cluster: null, episodes,
    explanation: 'Further trajectories this report holds, by policy.',
  }] : [];
}

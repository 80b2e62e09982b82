// What is known about one episode or about several, in words and numbers.
import {contingency, sum, truthCount} from '../contingency';
import {h} from '../dom';
import {csv, saveText} from '../download';
import {count, counted, number, percent} from '../format';
import {clusterName, type Model} from '../model';
import {swatch} from '../swatch';

const mostScores = 8;

export function episodeDetails(model: Model, episode: number): HTMLElement {
  const rows: [string, string][] = [['Length', counted(model.length[episode], 'step')]];
  if (model.returns) rows.push(['Return', number(model.returns[episode])]);
  if (model.margin && model.k > 1) rows.push(['Margin', number(model.margin[episode])]);
  if (model.truth) rows.push(['Truth', model.truthName(model.truth[episode])]);
  return h('div', {class: 'episode'},
      h('p', {class: 'episode-name'}, `Episode ${model.id(episode)}`),
      h('p', {}, swatch(model.label[episode]), clusterName(model.label[episode])),
      h('dl', {class: 'facts tight'},
          ...rows.flatMap(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]),
          ...scoreRows(model, episode)));
}

/// Best first.
function scoreRows(model: Model, episode: number): HTMLElement[] {
  const {scores, k} = model;
  if (!scores || k < 2) return [];
  const score = (cluster: number) => scores[episode * k + cluster];
  const best = Array.from({length: k}, (_, cluster) => cluster)
    .sort((a, b) => score(b) - score(a)).slice(0, mostScores);
  return [
    h('dt', {class: 'span'}, scoreTitle(model)),
    ...best.flatMap((cluster) => [
      h('dt', {}, clusterName(cluster)), h('dd', {class: 'number'}, number(score(cluster))),
    ]),
  ];
}

function scoreTitle(model: Model): string {
  const meaning = model.report.episodes.score_meaning;
  return meaning ? `Score (${meaning})` : 'Score';
}

/// Counts by cluster, and by true policy where that is known, with a download of the ids.
export function regionDetails(model: Model, episodes: number[]): HTMLElement {
  const label = Uint32Array.from(episodes, (episode) => model.label[episode]);
  const truth = model.truth && Int32Array.from(episodes, (episode) => model.truth![episode]);
  const names = truth ? truthCount(model) : 0;
  const counts = truth ? contingency(label, truth, model.k, names) : null;
  const sizes = new Array<number>(model.k).fill(0);
  for (const cluster of label) ++sizes[cluster];
  const rows = sizes.map((size, cluster) => size === 0 ? null : h('tr', {},
      h('th', {scope: 'row'}, swatch(cluster), clusterName(cluster)),
      h('td', {class: 'number'}, count(size)),
      h('td', {class: 'number muted'}, percent(size / episodes.length)),
      counts && h('td', {}, mixture(model, counts[cluster]))));
  return h('div', {class: 'region'},
      h('p', {class: 'episode-name'},
          `${counted(episodes.length, 'trajectory', 'trajectories')} in the outline`),
      episodes.length > 0 && h('div', {class: 'scroll'}, h('table', {},
          h('thead', {}, h('tr', {},
              h('th', {scope: 'col'}, 'Policy'),
              h('th', {scope: 'col', class: 'number', colspan: 2}, 'Trajectories'),
              truth && h('th', {scope: 'col'}, 'Made by'))),
          h('tbody', {}, ...rows))),
      episodes.length > 0 && h('button', {
        type: 'button', click: () => saveText(idsCsv(model, episodes), 'episodes.csv', 'text/csv'),
      }, 'Download these ids (CSV)'));
}

/// "zigzag-1 1,204, balanced 3"
function mixture(model: Model, row: number[]): string {
  const parts = row.map((n, truth) => ({n, truth})).filter(({n}) => n > 0);
  parts.sort((a, b) => b.n - a.n);
  const shown = parts.slice(0, 3).map(({n, truth}) => `${model.truthName(truth)} ${count(n)}`);
  const rest = sum(parts.slice(3).map(({n}) => n));
  return [...shown, ...(rest ? [`others ${count(rest)}`] : [])].join(', ');
}

function idsCsv(model: Model, episodes: number[]): string {
  const sorted = [...episodes].sort((a, b) => a - b);
  return csv([['episode', 'label'],
    ...sorted.map((episode) => [model.id(episode), model.label[episode]])]);
}

/// For those who do not see it.
export function spoken(model: Model, episode: number): string {
  const parts = [`Episode ${model.id(episode)}`, clusterName(model.label[episode])];
  if (model.truth) parts.push(`truth ${model.truthName(model.truth[episode])}`);
  parts.push(counted(model.length[episode], 'step'));
  if (model.returns) parts.push(`return ${number(model.returns[episode])}`);
  if (model.margin && model.k > 1) parts.push(`margin ${number(model.margin[episode])}`);
  return parts.join(', ');
}

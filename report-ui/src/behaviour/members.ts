// Who is in each cluster: counts, the true policy most of them have, and averages over episodes.
import {count, counted, percent} from '../format';
import {clusterName, type Model} from '../model';

export interface Members {
  cluster: number;
  episodes: number;
  steps: number;
  /// The true policy of most, where it is known.
  truth: {name: string; share: number} | null;
  meanLength: number;
  /// Of the returns that are known.
  meanReturn: number | null;
}

export function members(model: Model): Members[] {
  return Array.from({length: model.k}, (_, cluster) => membersOf(model, cluster));
}

function membersOf(model: Model, cluster: number): Members {
  const truths = new Map<number, number>();
  let episodes = 0, steps = 0, returns = 0, known = 0;
  for (let i = 0; i < model.n; ++i) {
    if (model.label[i] !== cluster) continue;
    ++episodes;
    steps += model.length[i];
    if (Number.isFinite(model.returns?.[i])) {
      returns += model.returns![i];
      ++known;
    }
    const truth = model.truth?.[i] ?? -1;
    if (truth >= 0) truths.set(truth, (truths.get(truth) ?? 0) + 1);
  }
  return {
    cluster, episodes, steps, truth: majority(model, truths),
    meanLength: episodes ? steps / episodes : NaN,
    meanReturn: known ? returns / known : null,
  };
}

function majority(model: Model, truths: Map<number, number>): Members['truth'] {
  const all = [...truths.values()].reduce((sum, value) => sum + value, 0);
  const [best] = [...truths].sort((a, b) => b[1] - a[1]);
  return best ? {name: model.truthName(best[0]), share: best[1] / all} : null;
}

/// What stands under a policy's name: "19,101 trajectories", "mostly right-first (99%)".
export function memberNotes({episodes, truth}: Members): string[] {
  return [
    counted(episodes, 'trajectory', 'trajectories'),
    ...truth ? [`${majorityWord(truth.share)} ${truth.name} (${percent(truth.share)})`] : [],
  ];
}

const majorityWord = (share: number) => (share === 1 ? 'all' : share > 0.5 ? 'mostly' : 'most often');

/// 13.1 below a hundred, 480 above: more digits would say more than an average does.
export function rounded(value: number): string {
  return Math.abs(value) < 100 ? String(Number(value.toFixed(1))).replace('-', '−') : count(value);
}

/// "lasts 13.1 steps on average"
export function lasting({meanLength}: Members): string {
  const length = rounded(meanLength);
  return `lasts ${length} ${length === '1' ? 'step' : 'steps'} on average`;
}

/// What a sentence about one policy calls the rest: where there are two, the other's name.
export function othersName(k: number, cluster: number): string {
  return k === 2 ? clusterName(1 - cluster) : 'the others';
}

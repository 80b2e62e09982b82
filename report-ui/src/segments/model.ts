// The segments with their columns decoded, and which episode is looked at.
import {decode, type Numbers} from '../column';
import type {Trajectory} from '../record';
import type {Segmentation, Stretches} from './record';

/// A stretch of steps [begin, end) with one actor.
export interface Stretch {
  begin: number;
  end: number;
  policy: number;
}

export interface Segment extends Stretch {
  earliest: number;
  latest: number;
  chance: number;
}

export interface Evidence {
  stride: number;
  /// [kept steps, k]
  behind: Numbers;
  /// [kept steps], or [kept steps, the report's names of actions] of numbers.
  actions: Numbers | null;
  pictures?: Trajectory['pictures'];
  grid?: Trajectory['grid'];
  path?: Trajectory['path'];
}

/// A stretch of steps [begin, end) in which others may have acted than who is named.
export interface Unsure {
  begin: number;
  end: number;
  /// The likeliest first.
  candidates: {policy: number; chance: number}[];
}

/// Columns of stretches, and where each episode's begin in them.
class Stretched {
  readonly begin: Numbers;
  readonly policy: Numbers;
  readonly first: Int32Array;

  constructor({begin, policy}: Stretches, episodes: number) {
    this.begin = decode(begin);
    this.policy = decode(policy);
    this.first = new Int32Array(episodes + 1).fill(this.begin.length);
    for (let i = 0, episode = 0; i < this.begin.length; ++i) {
      if (this.begin[i] === 0) this.first[episode++] = i;
    }
  }

  count(episode: number): number {
    return this.first[episode + 1] - this.first[episode];
  }

  of(episode: number, length: number): (Stretch & {index: number})[] {
    return Array.from({length: this.count(episode)}, (_, i) => {
      const index = this.first[episode] + i, last = index + 1 === this.first[episode + 1];
      return {
        index, begin: this.begin[index], end: last ? length : this.begin[index + 1],
        policy: this.policy[index],
      };
    });
  }
}

export class SegmentsModel {
  readonly n: number;
  readonly k: number;
  readonly length: Numbers;
  private readonly found: Stretched;
  private readonly true: Stretched | null;
  private readonly earliest: Numbers;
  private readonly latest: Numbers;
  private readonly chance: Numbers;
  private readonly kept = new Map<number, Evidence>();
  private readonly unclear = new Map<number, Unsure[]>();
  private readonly listeners: ((episode: number) => void)[] = [];

  constructor(readonly report: Segmentation) {
    const {episodes, segments, truth, evidence} = report;
    this.n = episodes.count;
    this.k = report.record.result.k;
    this.length = decode(episodes.length);
    this.found = new Stretched(segments, this.n);
    this.true = truth && new Stretched(truth, this.n);
    this.earliest = decode(segments.earliest);
    this.latest = decode(segments.latest);
    this.chance = decode(segments.chance);
    for (const {episode, behind, actions, ...others} of evidence) {
      this.kept.set(episode,
          {...others, behind: decode(behind), actions: actions ? decode(actions) : null});
    }
    this.readUnsure();
  }

  private readUnsure(): void {
    const {unsure} = this.report;
    if (!unsure) return;
    const [episode, begin, end, policy, chance] =
      [unsure.episode, unsure.begin, unsure.end, unsure.policy, unsure.chance].map(decode);
    for (let i = 0; i < episode.length; ++i) {
      const own = this.unclear.get(episode[i]) ?? [], last = own[own.length - 1];
      const candidate = {policy: policy[i], chance: chance[i]};
      if (last?.begin === begin[i]) last.candidates.push(candidate);
      else own.push({begin: begin[i], end: end[i], candidates: [candidate]});
      this.unclear.set(episode[i], own);
    }
  }

  /// Where others may have acted.
  unsure(episode: number): Unsure[] {
    return this.unclear.get(episode) ?? [];
  }

  id(episode: number): string {
    return this.report.episodes.ids?.[episode] ?? String(episode);
  }

  switches(episode: number): number {
    return this.found.count(episode) - 1;
  }

  segments(episode: number): Segment[] {
    return this.found.of(episode, this.length[episode]).map(({index, ...stretch}) => ({
      ...stretch, earliest: this.earliest[index], latest: this.latest[index],
      chance: this.chance[index],
    }));
  }

  /// Who truly acted; null where nobody knows.
  truth(episode: number): Stretch[] | null {
    return this.true && this.true.of(episode, this.length[episode]);
  }

  /// The chance of the least sure of its segments.
  leastChance(episode: number): number {
    return Math.min(...this.segments(episode).map(({chance}) => chance));
  }

  evidence(episode: number): Evidence | undefined {
    return this.kept.get(episode);
  }

  get withEvidence(): number[] {
    return [...this.kept.keys()];
  }

  select(episode: number): void {
    for (const listener of this.listeners) listener(episode);
  }

  onSelect(listener: (episode: number) => void): void {
    this.listeners.push(listener);
  }
}

/// The segment a step lies in.
export function at<T extends Stretch>(stretches: T[], step: number): T {
  return stretches.find(({end}) => step < end) ?? stretches[stretches.length - 1];
}

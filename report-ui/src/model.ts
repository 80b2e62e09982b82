// The report with its columns decoded, and the one piece of state the sections share: which episode
// is selected.
import {decode, type Numbers} from './column';
import type {Report, Trajectory} from './record';

export class Model {
  readonly n: number;
  readonly k: number;
  readonly label: Numbers;
  readonly truth: Numbers | null;
  readonly length: Numbers;
  readonly returns: Numbers | null;
  readonly margin: Numbers;
  readonly fit: Numbers;
  readonly scores: Numbers | null;

  private selected: number | null = null;
  private readonly listeners: ((episode: number | null) => void)[] = [];
  private readonly byEpisode = new Map<number, Trajectory>();

  constructor(readonly report: Report) {
    const {episodes} = report;
    this.n = episodes.count;
    this.k = report.run.result.k;
    this.label = decode(episodes.label);
    this.truth = episodes.truth && decode(episodes.truth);
    this.length = decode(episodes.length);
    this.returns = episodes.return && decode(episodes.return);
    this.margin = decode(episodes.margin);
    this.fit = decode(episodes.fit);
    this.scores = episodes.scores && decode(episodes.scores);
    for (const trajectory of report.trajectories) this.byEpisode.set(trajectory.episode, trajectory);
  }

  id(episode: number): string {
    return this.report.episodes.ids?.[episode] ?? String(episode);
  }

  /// What true policy i is called.
  truthName(truth: number): string {
    if (truth < 0) return 'unknown';
    return this.report.episodes.truth_names[truth] ?? `true policy ${truth}`;
  }

  /// Its steps, where the report holds them.
  trajectory(episode: number): Trajectory | undefined {
    return this.byEpisode.get(episode);
  }

  /// Tells every section; null: nothing is selected.
  select(episode: number | null): void {
    this.selected = episode;
    for (const listener of this.listeners) listener(episode);
  }

  onSelect(listener: (episode: number | null) => void): void {
    this.listeners.push(listener);
    if (this.selected !== null) listener(this.selected);
  }
}

/// How clusters are called everywhere.
export const clusterName = (cluster: number): string => `Policy ${cluster}`;

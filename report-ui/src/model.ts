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
  readonly margin: Numbers | null;
  readonly scores: Numbers | null;

  private selected: number | null = null;
  private readonly listeners: ((episode: number | null) => void)[] = [];
  private readonly byEpisode = new Map<number, Trajectory>();

  /// `answer`: which of the run's answers the report is of; the first is its own.
  constructor(readonly report: Report, readonly answer = 1) {
    const {episodes} = report;
    this.n = episodes.count;
    this.k = report.run.result.k;
    this.label = decode(episodes.label);
    this.truth = episodes.truth && decode(episodes.truth);
    this.length = decode(episodes.length);
    this.returns = episodes.return && decode(episodes.return);
    this.margin = episodes.margin && decode(episodes.margin);
    this.scores = episodes.scores && decode(episodes.scores);
    for (const trajectory of report.trajectories) this.byEpisode.set(trajectory.episode, trajectory);
  }

  /// Whether it is another answer than the one that was chosen.
  get isAlternative(): boolean {
    return this.answer > 1;
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

  get selectedEpisode(): number | null {
    return this.selected;
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

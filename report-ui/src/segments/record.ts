// Who acted when: what kindred/findings/segments_record.cpp writes. Policies are numbered 0 to k-1,
// episodes 0 to n-1, steps of an episode from 0.
import type {
  Column, GridSetting, PathSetting, PictureSummary, RunRecord, Trajectory,
} from '../record';

/// segments.json, as `kindred segment` wrote it.
export interface SegmentsRecord {
  version: string;
  command: string;
  started: string;
  dataset: RunRecord['dataset'];
  options: Record<string, unknown>;
  /// The folder of a run whose policies were used, or empty.
  run: string;
  result: {
    k: number;
    segments: number;
    switches: number;
    episodes_with_switches: number;
    /// Switches per step.
    rate: number;
    /// [k]
    steps: number[];
    /// [k][k]: how often the second takes over from the first.
    followers: number[][];
    /// Held-out scores in nats per step: of this answer, if nobody switched, of one policy.
    v: number;
    v_of_nobody: number;
    v_of_one: number;
    /// Episodes the policies were looked for in.
    searched: number;
    /// Where others may have acted; missing in old records.
    unsure?: {stretches: number; steps: number};
    idle: {stretches: number; steps: number};
    truth?: {
      accuracy: number;
      switches: number;
      /// A true switch is seen where one was found at most so many steps away.
      within: number;
      seen: number;
      inside_interval: number;
      /// Of the others: in a stretch said to be unsure that names both, or not; missing in old records.
      said_unsure?: number;
      neither?: number;
      invented: number;
    };
  };
  timings: {segment: number};
  machine: Record<string, unknown>;
}

/// Segments of all episodes one after the other; each episode's first begins at 0.
export interface Stretches {
  begin: Column;
  policy: Column;
}

/// What is drawn of actions: the choices there are or, of numbers, those that tell policies apart best.
export interface ActionNames {
  names: string[];
  discrete: boolean;
  /// How many there are.
  of: number;
}

export interface Segmentation {
  kindred_segmentation: 1;
  name: string;
  conclusion: string;
  record: SegmentsRecord;
  episodes: {count: number; ids: string[] | null; length: Column};
  /// The switch a segment begins with lies from `earliest` to `latest` with a chance of 90 %.
  segments: Stretches & {earliest: Column; latest: Column; chance: Column};
  /// Stretches in which who is named acts with a chance below 90 %, episode by episode: a row for each
  /// policy that may have acted, the likeliest first. Null where there are none, missing in old records.
  unsure?: {episode: Column; begin: Column; end: Column; policy: Column; chance: Column} | null;
  /// `match`: the found policy that each true one shares most steps with, or -1.
  truth: (Stretches & {names: string[]; match: number[]}) | null;
  /// Null where there is nothing to draw; missing in old records.
  actions?: ActionNames | null;
  /// Where episodes with evidence can be watched; null where they cannot be, missing in old records.
  scene?: GridSetting | PathSetting | null;
  /// Null where the dataset has no pictures; missing in old records.
  pictures?: PictureSummary | null;
  /// Of some episodes: how far the log-likelihood of all steps so far under each policy is behind
  /// that of who acted, [kept steps, k], and what was done, [kept steps] or [kept steps, names];
  /// every stride-th step is kept. Pictures are of some of these episodes.
  evidence: {
    episode: number; stride: number; behind: Column; actions?: Column;
    pictures?: Trajectory['pictures']; grid?: Trajectory['grid']; path?: Trajectory['path'];
  }[];
}

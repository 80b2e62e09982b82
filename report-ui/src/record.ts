// The record the page shows: what kindred/findings/findings.cpp writes, and nothing else.
// Clusters are numbered 0 to k-1, episodes 0 to n-1; cells of a grid are row * size + column.

/// Numbers as base64 of little-endian values; see column.ts.
export type Column = ExactColumn | RoughColumn | SameColumn;

export interface ExactColumn {
  type: 'u8' | 'u16' | 'u32' | 'i16' | 'i32' | 'f32';
  data: string;
}

/// In 65,532 equal steps from low to high; above them −∞, ∞ and what is not a number.
export interface RoughColumn {
  type: 'q16';
  data: string;
  low: number;
  high: number;
}

/// One number, so many times.
export interface SameColumn {
  type: 'same';
  value: number;
  count: number;
}

/// run.json, as the run wrote it.
/// The best answer with k clusters. The gain, with its standard error, is over the answer before it,
/// per step.
export interface Considered {
  k: number;
  v: number;
  gain: number;
  gain_error: number;
  agreement: number;
}

/// One check of the file that found something: `key` names it, as in `kindred info --json`.
export interface Diagnosis {
  key: string;
  severity: string;
  evidence: string;
  advice: string;
}

export interface RunRecord {
  version: string;
  method: string;
  command: string;
  started: string;
  dataset: {
    path: string;
    format: string;
    episodes: number;
    steps: number;
    obs_dim: number;
    action: {kind: 'discrete' | 'continuous'; count?: number; dim?: number};
    distinct_observations?: number;
    provenance: Record<string, unknown>;
    /// What looks odd in the file; missing in old runs.
    doctor?: Diagnosis[];
  };
  options: Record<string, unknown>;
  result: {
    k: number;
    sizes: number[];
    objective: number;
    objective_before_merge: number;
    rounds: number;
    converged: boolean;
    best_restart: number;
    agreement: {
      verdict: 'unique' | 'several' | 'unstable' | 'single';
      good_restarts: number;
      /// Missing in old runs.
      same_restarts?: number;
      mean_nmi: number;
      least_nmi: number;
    };
    /// Whether k was looked for; missing in old runs.
    k_found?: boolean;
    /// How many clusters were asked for, where a number was; missing in old runs.
    k_asked?: number;
    /// Fewer clusters that predict almost as well, where k was found; missing in old runs.
    almost_as_good?: number[];
    /// The held-out score, and the answers for each k it was compared with: only where the method can
    /// say.
    v?: number;
    considered?: Considered[];
    /// How many policies there are, as far as conflicts tell; only where they were looked for.
    k_least?: number;
    k_most?: number;
    sure?: boolean;
    /// Why it is not sure, in words; empty where it is.
    doubt?: string;
    /// What conflicts say of every two clusters.
    pairs?: {clusters: [number, number]; relation: string}[];
    /// Where one policy is found: what was looked for.
    episodes_differ?: {z: number; share: number; error: number; met: number};
    best_two?: {sizes: number[]; v: number; pair: {relation: string; z: number; met: number}};
    /// Divisions unlike this one that predict as well; only where the method looks for them.
    alternatives?: {v: number; nmi: number}[];
    /// How many trajectories the answer was found on, where not on all.
    searched?: number;
    /// Only where the true policies are known. The ceiling, only where their probabilities are, is
    /// the oracle's NMI: not a bound.
    nmi?: number;
    ari?: number;
    accuracy?: number;
    purity?: number;
    ceiling?: number;
    /// NMI adjusted for chance, and the NMI chance would give; missing in old runs.
    ami?: number;
    chance_nmi?: number;
  };
  restarts: {
    restart: number;
    rounds: number;
    converged: boolean;
    objective: number;
    objective_before_merge: number;
    merges: {from: number; into: number; objective: number}[];
  }[];
  trace: {
    restart: number;
    round: number;
    objective: number;
    changed: number;
    sizes: number[];
    seconds: number;
  }[];
  timings: Record<string, number>;
  machine: Record<string, unknown>;
}

/// One number per episode in each column.
export interface Episodes {
  count: number;
  /// What the dataset calls them; null: their numbers.
  ids: string[] | null;
  label: Column;
  /// The true policy, -1 where it is not known; null where none is.
  truth: Column | null;
  truth_names: string[];
  length: Column;
  /// Not a number where a reward is not; null where no return is known.
  return: Column | null;
  /// Score under its own centre less the best of the others; infinite with one cluster. null where
  /// the labels are not those of the centres.
  margin: Column | null;
  /// Of how many the margin is one of policies fitted without the episode; missing in old records.
  margin_held_out?: number;
  /// [n, k]; null where it would make the page too large.
  scores: Column | null;
  score_meaning: string;
}

/// One way of laying out all episodes as points in a square.
export interface MapView {
  title: string;
  /// One or two sentences: what near and far mean here.
  explanation: string;
  /// [n, 2] as u16: value = low + q / 65535 * (high - low).
  points: Column;
  x: {label: string | null; low: number; high: number};
  y: {label: string | null; low: number; high: number};
  /// Where the clusters' corners are, or null: no simplex. Without axis labels no axis is drawn.
  corners: {x: number; y: number}[] | null;
}

/// A gridworld as a place to watch episodes in.
export interface GridSetting {
  kind: 'grid';
  /// 'map': cells of the one map all episodes share. 'goal': places relative to the goal (in the
  /// middle of a square of 2 * size - 1 cells), where every episode has a map of its own.
  frame: 'map' | 'goal';
  size: number;
  walls: number[];
  goal: number | null;
  action_names: string[];
  /// What objects are called: "ball".
  object_name: string;
}

/// What clusters do, by place.
export interface GridBehaviour extends GridSetting {
  /// Situations that are shown apart: which objects are still there. The first is the most common.
  contexts: {
    name: string;
    objects: [number, number][];  // [kind of object, cell]
    /// Of all steps.
    share: number;
    /// [k]
    clusters: {
      visits: number[];  // [cells]: steps spent there
      actions: number[];  // [cells, actions]: how often each was taken there
    }[];
  }[];
}

/// A plane as a place to watch episodes in.
export interface PathSetting {
  kind: 'path';
  /// Known routes, drawn behind the others.
  references: [number, number][][];
  /// Low and high of x and of y.
  range: [number, number, number, number];
}

export interface PathBehaviour extends PathSetting {
  /// The plane in bins x bins squares, row 0 at the low end of y.
  bins: number;
  clusters: {
    routes: [number, number][][];  // some episodes, thinned
    mean_route: [number, number][];
    visits: number[];  // [bins * bins]: steps spent there
    actions: number[];  // [bins * bins, 2]: mean action there
  }[];
}

/// Everything else: numbers over time.
export interface CurvesBehaviour {
  kind: 'curves';
  observation_names: string[];
  action_names: string[];
  /// Quantiles that `quantiles` below hold, such as 0.05, 0.25, 0.5, 0.75, 0.95.
  levels: number[];
  /// Steps at which the curves are given.
  times: number[];
  clusters: {
    observation: {mean: number[]; deviation: number[]};  // [dim]
    /// Continuous: statistics and a histogram of each number in an action. Discrete: null.
    action: {mean: number[]; deviation: number[]; quantiles: number[][]} | null;  // [dim, levels]
    action_histogram: number[][] | null;  // [dim, bins]
    /// Discrete: how often each action was taken. Continuous: null.
    action_counts: number[] | null;
    /// [dim, times]: mean over the episodes still running, and 10% and 90% quantiles.
    curves: {mean: number[]; low: number[]; high: number[]}[];
    /// [times]: episodes still running, as a share.
    running: number[];
  }[];
  /// [dim, bins + 1]: edges of action_histogram; in old records the same for every dimension.
  histogram_edges: number[][] | number[] | null;
}

export type Behaviour = GridBehaviour | PathBehaviour | CurvesBehaviour;

/// Two clusters where they see similar states: how much their actions differ, and how much those of
/// one of them do, as a share of choices or as a mean square in deviations.
export interface MatchedPair {
  pair: [number, number];
  /// Of the steps of each, those with a step of the other as near as its own cluster's.
  share: [number, number];
  verdict: 'differ' | 'alike' | 'unclear' | 'apart';
  between?: number;
  within?: number;
  /// Continuous: the number in which they differ most, by how much, and how much higher the first's
  /// is on average.
  action?: {name: string; apart: number; higher: number};
  /// Discrete: what the first chooses where the second chooses something else, most often.
  choices?: {first: number; second: number; share: number} | null;
  /// The number of the observation with which the difference grows, or falls.
  where?: {name: string; high: boolean} | null;
}

/// How far two divisions agree.
export interface Agreement {
  nmi: number;
  ami: number;
  chance_nmi: number;
}

export interface Baseline {
  /// With the run's labels, and with the true ones where those are known.
  answer: Agreement;
  truth: Agreement | null;
}

/// What k-means makes of means and deviations of each trajectory: of its observations, and of its
/// actions too.
export interface Baselines {
  /// On how many trajectories.
  judged: number;
  states?: Baseline;
  everything?: Baseline;
}

/// One episode step by step. Which of grid, path and curves there is follows from behaviour.kind.
export interface Trajectory {
  episode: number;
  steps: number;
  /// One in how many steps is kept here; 1: all of them. All arrays below are of kept steps.
  stride: number;
  /// null where a reward is not a number.
  rewards: (number | null)[] | null;
  /// [steps]: discrete actions; null where they are continuous.
  actions: number[] | null;
  /// [steps, dim]: continuous actions.
  continuous_actions: number[][] | null;
  /// What each centre would do, where centres are policies: [steps, k, actions] probabilities, or
  /// [steps, k, 2, dim] means and deviations.
  policies: number[] | null;
  /// [steps, k]: log-likelihood of all steps so far under each centre.
  evidence: number[] | null;
  grid?: {
    /// null: as in behaviour.
    walls: number[] | null;
    goal: number | null;
    agent: number[];  // [steps] cells
    /// [steps] of what lies there: [kind of object, cell].
    objects: [number, number][][];
    /// [steps]: the move made ("left", "elsewhere") where that is known and is not where the chosen
    /// one leads; else null. Walking into a wall is staying.
    slips: (string | null)[];
    /// Where the last step led, where that is known.
    end: number | null;
  };
  path?: {position: [number, number][]; goal: [number, number]};
  /// [dim][steps]; the names are those of behaviour.
  curves?: number[][];
  /// What cameras saw at some steps, which count from 0 and need not be kept ones: [cameras][steps]
  /// addresses, null where there is none.
  pictures?: {steps: number[]; cameras: (string | null)[][]};
}

/// What the page holds of the dataset's cameras.
export interface PictureSummary {
  cameras: string[];
  /// Of how many episodes it has pictures.
  episodes: number;
  /// Why there are none, or fewer than there could be.
  problem: string | null;
}

/// Episodes a person should look at, most remarkable first.
export interface NotableList {
  id: string;
  title: string;
  explanation: string;
  /// The cluster it is about, or null.
  cluster: number | null;
  episodes: number[];
}

/// evaluation.json of `kindred evaluate`, in part.
export interface Evaluation {
  environment: string;
  origin: string;
  clusters: EvaluatedPolicy[];
  references: EvaluatedPolicy[];
}
export interface EvaluatedPolicy {
  name: string;
  /// Of the data it stands for, and their mean return.
  episodes: number;
  data_return: number | null;
  /// Acting in the environment: mean and deviation.
  return: number;
  return_sd: number;
  score: number | null;
}

/// A division unlike the answer that predicts held-out trajectories as well. Numbered from 2, as
/// `kindred label --alternative` does.
export interface Alternative {
  v: number;
  /// With the answer.
  nmi: number;
  /// [its number of clusters]
  sizes: number[];
  label: Column;
  /// Against the true policies; null where those are not known.
  scores: Pick<RunRecord['result'], 'nmi' | 'ari' | 'accuracy' | 'purity' | 'ami' | 'chance_nmi'> | null;
  behaviour: Behaviour;
  matched?: MatchedPair[] | null;
  conflicts_inside?: ConflictsInside[] | null;
}

/// Within one cluster: its trajectories, those of them that take two actions in one state, and pairs
/// that take different ones.
export interface ConflictsInside {
  label: number;
  trajectories: number;
  contradict: number;
  conflicts: number;
}

/// What `kindred conflicts` finds, and something of it to draw.
export interface Conflicts {
  conclusion: string;
  episodes: number;
  contradict: number;
  conflicts: number;
  conflicts_exact: boolean;
  /// Policies.
  at_least: number;
  at_most: number;
  /// Trajectories that are divided alike by everybody who divides into `at_most`.
  forced: number;
  untouched: number;
  parts: number;
  inside: ConflictsInside[];
  drawn: {episodes: number[]; edges: [number, number][]};
}

export interface Report {
  kindred_report: 1;
  /// The folder's name.
  name: string;
  /// One sentence: how many clusters, whether restarts agree, how well they match the truth.
  conclusion: string;
  run: RunRecord;
  /// config.toml.
  config: string;
  episodes: Episodes;
  /// The first is shown first.
  maps: MapView[];
  behaviour: Behaviour;
  /// Null with one cluster or very many; missing in old records, as the next.
  matched?: MatchedPair[] | null;
  /// Null where actions are continuous, or nobody visits a state that another did.
  conflicts?: Conflicts | null;
  baselines?: Baselines | null;
  notable: NotableList[];
  /// Those of the lists, and some more of every cluster.
  trajectories: Trajectory[];
  /// Null where the dataset has no pictures; missing in old records.
  pictures?: PictureSummary | null;
  /// NMI between the labels of every two restarts.
  restart_nmi: number[][];
  evaluation: Evaluation | null;
  alternatives: Alternative[];
}

/// Several runs side by side.
export interface Comparison {
  kindred_comparison: 1;
  runs: {
    name: string;
    conclusion: string;
    run: RunRecord;
    evaluation: Evaluation | null;
    /// [n] where all runs labelled the same episodes, else null.
    label: Column | null;
  }[];
  /// NMI between the labels of every two runs; null where they are of different episodes.
  nmi: number[][] | null;
}

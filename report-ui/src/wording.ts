// What the numbers of a run mean, in words.
import {counted, measure, number, percent} from './format';
import type {RunRecord} from './record';

/// Whose NMI the record calls the ceiling. It is not a bound: ties can be broken better.
export const oracle =
  'who knows the true policies and assigns each trajectory to its most likely one';

const methods: Record<string, string> = {
  'policy-search': 'Policy search', 'pg-kmeans': 'PG-Kmeans', 'caae': 'CAAE', 'dec': 'DEC', 'vae-kmeans': 'VAE+KMeans',
  'vq-vae': 'VQ-VAE', 'sorl': 'SORL', 'return-kmeans': 'Return+KMeans',
};

export const methodName = (run: RunRecord): string => methods[run.method] ?? run.method;

/// How the number of policies came about: "5 policies, as asked", "8 were asked for, 3 are left".
export function howMany(run: RunRecord): string {
  const {k} = run.result, policies = counted(k, 'policy', 'policies');
  if (run.result.k_found) return `${policies} (found${almost(run)})`;
  const fitted = Number(run.options.k), target = Number(run.options['merge-to'] ?? 0);
  const asked = run.result.k_asked ?? (target || fitted);
  if (!Number.isFinite(asked)) return policies;
  if (k < asked) return `${asked} were asked for, ${k} ${k === 1 ? 'is' : 'are'} left`;
  return fitted > asked ? `${policies}, as asked (${fitted} fitted, then merged)` : `${policies}, as asked`;
}

/// "; 3 or 4 fit almost as well", or nothing.
function almost({result: {almost_as_good: fewer = []}}: RunRecord): string {
  if (!fewer.length) return '';
  return `; ${fewer.join(' or ')} ${fewer[fewer.length - 1] === 1 ? 'fits' : 'fit'} almost as well`;
}

/// How many policies there are, as far as conflicts tell.
function whatConflictsSay(run: RunRecord): string {
  const {k, k_least: least, k_most: most, doubt} = run.result;
  const found = k === 1 ? whatOneMeans(run)
    : least === k && most === k ? 'Every two act differently in like states.'
      : `${least} would explain the data; up to ${most} may be different.`;
  return doubt ? `${found} Not sure: ${doubt}.` : found;
}

/// What was looked for without being found, and the best division into two.
function whatOneMeans({result: {episodes_differ: episodes, best_two: two}}: RunRecord): string {
  const looked = episodes ? `No groups were found that act differently and are predicted better, in the ${
    percent(episodes.met)} of steps that are in states other trajectories have been in.`
    : 'No trajectories were in like states often enough to compare them.';
  return two ? `${looked} The best division into two has ${two.sizes.join(' and ')} trajectories; ${
    relationWords[two.pair.relation]} (-k 2 shows it).` : looked;
}

const relationWords: Record<string, string> = {
  different: 'they may act differently, but not beyond doubt',
  same: 'they act alike in like states',
  undecided: 'whether they act alike could not be decided',
  'never met': 'they were never in like states',
};

/// What was checked of it: what one more would be worth.
export function whyThatMany(run: RunRecord): string {
  const {k, k_found: found, considered, v} = run.result;
  if (!found && k < (run.result.k_asked ?? k)) {
    return 'The others lost all their trajectories. Ask for fewer, or have their number found.';
  }
  if (!found || !considered) return 'Not checked: restarts share it. Compare with runs of another k.';
  if (run.result.k_least !== undefined) return whatConflictsSay(run);
  const more = considered.find(answer => answer.k > k);
  if (!more) return `More than ${k} were not judged.`;
  if (more.v <= (v ?? Infinity)) return `With ${more.k}, held-out trajectories are predicted no better.`;
  return `${more.k} would predict better, but do not act differently in like states.`;
}

const hasRestarts = (run: RunRecord) => 'restarts' in run.options;

/// Whether restarts with the same k give the same labels; it says nothing about k.
export function agreement(run: RunRecord): string {
  const {verdict, good_restarts: good, same_restarts: same, least_nmi} = run.result.agreement;
  switch (verdict) {
    case 'unique': return `${same === run.restarts.length ? 'All restarts'
      : good > 1 ? 'All good restarts' : 'Most restarts'} give ${
      least_nmi > 0.995 ? 'the same labels' : 'nearly the same labels'}.`;
    case 'several': return run.result.alternatives
      ? `${good} divisions predict held-out trajectories equally well.`
      : 'Good restarts give different labels.';
    case 'unstable': return (same ?? 1) > 1 ? 'Few restarts give the labels of the best one.'
      : 'No other restart gives the labels of the best one.';
    case 'single': return hasRestarts(run) ? 'One restart only: nothing to compare with.'
      : 'This method has no restarts.';
  }
}

export function agreementDetail(run: RunRecord): string {
  const {verdict, good_restarts: good, same_restarts: same, mean_nmi, least_nmi} =
      run.result.agreement;
  if (verdict === 'single') {
    return hasRestarts(run) ? 'More restarts would show whether they give the same labels.'
      : 'It finds the best clusters exactly.';
  }
  if (run.result.alternatives?.length) {
    return `Their NMI with this one is ${measure(least_nmi)} at least. They can be looked at ` +
        'above; “kindred label RUN --alternative 2” writes the labels of the second.';
  }
  if (run.result.alternatives) {
    const {searched} = run.result;
    const where = searched && searched < run.dataset.episodes
      ? ` on the ${number(searched)} trajectories that were searched` : '';
    return `${same} of ${counted(run.restarts.length, 'random start')} ${
      same === 1 ? 'leads' : 'lead'} to these labels${where}.`;
  }
  const of = `${good} of ${counted(run.restarts.length, 'restart')} ${
    good === 1 ? 'comes' : 'come'} close to the best objective`;
  if (good < 2 && verdict === 'unique') {
    return `${same} of ${counted(run.restarts.length, 'restart')} ${
      same === 1 ? 'gives' : 'give'} these labels (NMI at least ` +
        `${measure(least_nmi)}), with different objectives.`;
  }
  if (good < 2) return `${of}. More restarts may find a better one.`;
  return good === 2 ? `${of}; NMI between them ${measure(least_nmi)}.`
    : `${of}; NMI between them ${measure(mean_nmi)} on average, ${measure(least_nmi)} at least.`;
}

/// What the objective is.
export function objectiveMeaning(run: RunRecord): string {
  const {searched} = run.result;
  if (searched && searched < run.dataset.episodes) {
    return `Log-likelihood of the actions of the ${number(searched)} trajectories that were searched.`;
  }
  if (['policy-search', 'pg-kmeans', 'sorl'].includes(run.method)) {
    return run.dataset.action.kind === 'discrete'
      ? 'Log-likelihood of all actions under the policies; 0: every action was certain.'
      : 'Log-likelihood of all actions under the policies; higher is better.';
  }
  if (run.method === 'return-kmeans') {
    return 'Minus the squared distance of returns to their centres; higher is better.';
  }
  return 'What training maximised; comparable only between runs of this method.';
}

export const fileName = (path: string): string => path.split(/[\\/]/).filter(Boolean).pop() ?? path;

export function environment(run: Pick<RunRecord, 'dataset'>): string | null {
  const name = run.dataset.provenance?.environment;
  return typeof name === 'string' ? name : null;
}

/// Seconds the run took: its fit where that was timed.
export const seconds = (run: RunRecord): number | undefined => run.timings?.fit;

export const isKnown = (value: number | null | undefined): value is number => value != null;

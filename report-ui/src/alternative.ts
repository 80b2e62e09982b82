// Another of the run's answers as a report of its own: what follows from its labels is its own; what
// belongs to the policies fitted for the answer is left out, or said to be the answer's.
import {counted, measure} from './format';
import type {Alternative, MapView, Report} from './record';

/// As `kindred label --alternative` counts: the answer itself is the first.
export const answerName = (number: number): string =>
  number === 1 ? 'Answer' : `Alternative ${number}`;

/// The report of answer `number`.
export function reportOf(report: Report, number: number): Report {
  if (number === 1) return report;
  const other = report.alternatives[number - 2], {run, episodes} = report;
  return {
    ...report,
    conclusion: conclusion(report, other, number),
    run: {
      ...run,
      result: {...run.result, ...other.scores, k: other.sizes.length, sizes: other.sizes, v: other.v},
    },
    episodes: {...episodes, label: other.label, margin: null, scores: null},
    maps: report.maps.map(ofAnswer),
    behaviour: other.behaviour,
    matched: other.matched ?? null,
    conflicts: report.conflicts && other.conflicts_inside
      ? {...report.conflicts, inside: other.conflicts_inside} : null,
    baselines: null,
    notable: [],
    trajectories: report.trajectories.map((one) => ({...one, policies: null, evidence: null})),
    evaluation: null,
  };
}

function conclusion(report: Report, {sizes, nmi, scores}: Alternative, number: number): string {
  const divided = counted(report.episodes.count, 'trajectory', 'trajectories');
  return `${answerName(number)}: ${divided} in ${counted(sizes.length, 'cluster')}, ` +
    `with an NMI of ${measure(nmi)} to the answer` +
    (scores ? `; NMI with the true policies is ${measure(scores.nmi)}.` : '.');
}

/// Points stay where they are: only the answer has policies to lay them out by.
function ofAnswer(view: MapView): MapView {
  const axis = ({label, ...range}: MapView['x']) =>
    ({...range, label: label === null ? null : `${label} (of the answer)`});
  return {
    ...view, corners: null, x: axis(view.x), y: axis(view.y),
    explanation: 'Points lie where the policies of the answer put them; colours are this division.',
  };
}

// Plays one episode: its picture, what each policy would do, and how the evidence grows.
import {actionOrder} from '../behaviour/actions';
import {place} from '../behaviour/path_data';
import {picker} from '../behaviour/picker';
import {redrawable} from '../behaviour/redrawable';
import {h} from '../dom';
import {figure} from '../figure';
import {counted, number} from '../format';
import {clusterName, type Model} from '../model';
import {clusterColour} from '../palette';
import type {Behaviour, Trajectory} from '../record';
import {swatch} from '../swatch';
import {isKnown} from '../wording';
import {Clock} from './clock';
import {cursor, type Cursor} from './cursor';
import {drawEvidence, evidenceSentence, stepNumber} from './evidence';
import {actionRange, forcePlane, meanRows, probabilityTable} from './opinions';
import {Pictures} from './pictures';
import {curveOrder, curveScene, gridMove, gridScene, pathScene} from './scenes';

const still: Cursor = () => undefined;
const shownCurves = 4, shownActions = 6;

export class Player {
  readonly element: HTMLElement;
  private episode: Trajectory | null = null;
  private moveEvidence = still;
  private moveCurves = still;
  private curves: number[] = [];
  private ranges: [number, number][] = [];

  private readonly clock = new Clock(() => this.update());
  private readonly title = h('h3', {});
  private readonly facts = h('p', {class: 'note'});
  private readonly missing = h('div', {class: 'missing', hidden: true});
  private readonly stage: HTMLElement;
  private readonly now = h('p', {class: 'now'});
  private readonly verdict = h('div', {class: 'verdict'});
  private readonly opinions = h('div', {class: 'opinions'});
  private readonly slider = h('input', {
    type: 'range', min: 0, value: 0, 'aria-label': 'Step', input: () => this.clock.go(
        Number(this.slider.value)),
  });
  private readonly play = h('button', {
    type: 'button', class: 'play', click: () => this.clock.toggle(),
  }, 'Play');

  private readonly pictures: Pictures;
  private readonly scene = redrawable((width) => this.drawScene(width));
  private readonly evidence = redrawable((width) => this.drawEvidence(width));
  private readonly actions = redrawable((width) => this.drawActions(width));
  private readonly evidenceFigure: HTMLElement;
  private readonly actionFigure: HTMLElement;

  constructor(private readonly model: Model) {
    const {behaviour} = model.report;
    if (behaviour.kind === 'curves') this.curves = curveOrder(behaviour).slice(0, shownCurves);
    this.evidenceFigure = figure({
      title: 'Evidence so far', file: 'evidence', draw: this.evidence.draw,
      caption: 'Log-likelihood of all steps so far under each policy, in nats below the best.',
    });
    this.actionFigure = figure({
      title: 'What each policy would do', file: 'action-at-step', draw: this.actions.draw,
      caption: behaviour.kind === 'path'
        ? 'Arrow: the action taken. Ellipses: mean and standard deviation of each policy.'
        : 'Vertical line: the action taken. Dots and lines: mean and standard deviation of each policy.'
          + leftOut(behaviour),
    });
    this.pictures = new Pictures(model.report.pictures ?? null, model.n, (step) => this.clock.go(
        Math.round(step / (this.episode?.stride ?? 1))));
    this.stage = this.makeStage();
    this.element = h('div', {class: 'player'}, this.title, this.facts, this.missing, this.stage);
  }

  open(number: number): void {
    this.episode = this.model.trajectory(number) ?? null;
    this.describe(number);
    this.missing.hidden = this.episode !== null;
    this.stage.hidden = this.episode === null;
    if (!this.episode) return this.tellMissing(number);
    const {episode} = this, kept = keptSteps(episode);
    this.evidenceFigure.hidden = !episode.evidence || this.model.k < 2;
    this.verdict.hidden = this.evidenceFigure.hidden;
    this.actionFigure.hidden = !episode.continuous_actions || this.model.isAlternative;
    this.stage.classList.toggle('alone', !episode.policies && !episode.evidence);
    this.ranges = episode.continuous_actions?.[0].map(
        (_, i) => actionRange(episode, this.model.k, i)) ?? [];
    this.slider.max = String(kept - 1);
    this.pictures.open({...episode, id: this.model.id(number)});
    this.evidence.redraw();
    if (episode.curves) this.scene.redraw();
    this.clock.start(kept);
  }

  private describe(number: number): void {
    const {model} = this, label = model.label[number], truth = model.truth?.[number] ?? -1;
    this.title.replaceChildren(`Episode ${model.id(number)}`);
    const facts = [
      counted(model.length[number], 'step'),
      ...truth >= 0 ? [`made by ${model.truthName(truth)}`] : [],
      ...this.episode && this.episode.stride > 1
        ? [`one step in ${this.episode.stride} is shown`] : [],
    ];
    this.facts.replaceChildren(swatch(label), `${clusterName(label)} · ${facts.join(' · ')}`);
  }

  private tellMissing(number: number): void {
    const path = this.model.report.run.dataset.path;
    const data = /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll('\'', '\'\\\'\'')}'`;
    this.missing.replaceChildren(
        h('p', {}, 'The steps of this trajectory are not in the report, which holds only some. '
          + 'This command draws it:'),
        h('pre', {tabindex: 0}, `kindred render ${data} --episode ${this.inFile(number)} -o episode.svg`));
  }

  /// Its number in the dataset: its id where that is a number, as runs may be of a selection.
  private inFile(number: number): string {
    const id = this.model.id(number);
    return /^\d+$/.test(id) ? id : String(number);
  }

  private makeStage(): HTMLElement {
    const {behaviour} = this.model.report;
    const scene = figure({
      title: 'Step by step', file: 'episode', draw: this.scene.draw,
      caption: {
        grid: 'Circle: the agent; arrow: the action it chose. Line: its path. Star: the goal.',
        path: 'Dot: where it is; arrow: the direction of its action. Star: the goal.',
        curves: 'Strong: this trajectory. Weak: the means of the policies.',
      }[behaviour.kind],
    });
    return h('div', {
      class: 'stage', tabindex: 0, role: 'group', keydown: (e: KeyboardEvent) => this.key(e),
      'aria-label': 'Player. Arrow keys step, space plays, Home and End jump.',
    },
    this.controls(),
    this.pictures.element,
    h('div', {class: 'stage-columns'},
        h('div', {}, this.now, this.curvePicker(), scene),
        h('div', {}, this.verdict, this.evidenceFigure, this.opinions, this.actionFigure)));
  }

  private controls(): HTMLElement {
    const button = (name: string, label: string, by: number) => h('button', {
      type: 'button', 'aria-label': label, click: () => this.clock.go(this.clock.step + by),
    }, name);
    const speeds = [0.5, 1, 2, 4, 8];
    return h('div', {class: 'controls transport'},
        button('Back', 'One step back', -1), this.play, button('Next', 'One step on', 1),
        this.slider,
        picker('Speed', speeds.map((speed) => `${speed}×`), 1,
            (index) => this.clock.setSpeed(speeds[index])).element);
  }

  private curvePicker(): HTMLElement | null {
    const {behaviour} = this.model.report;
    if (behaviour.kind !== 'curves') return null;
    const order = curveOrder(behaviour);
    const names = ['those that tell policies apart best',
      ...order.map((i) => behaviour.observation_names[i])];
    return h('div', {class: 'controls'}, picker('Show', names, 0, (index) => {
      this.curves = index === 0 ? order.slice(0, shownCurves) : [order[index - 1]];
      this.scene.redraw();
    }).element);
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const own = target.tagName === 'SELECT' || (target.tagName === 'BUTTON' && event.key === ' ')
      || (target === this.slider && event.key !== ' ');
    const act = {
      ArrowLeft: () => this.clock.go(this.clock.step - 1),
      ArrowRight: () => this.clock.go(this.clock.step + 1),
      Home: () => this.clock.go(0),
      End: () => this.clock.go(this.clock.last),
      ' ': () => this.clock.toggle(),
    }[event.key];
    if (own || !act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  private update(): void {
    const {episode, clock, model} = this;
    if (!episode) return;
    const step = stepNumber(episode, clock.step);
    this.play.textContent = clock.playing ? 'Pause' : 'Play';
    this.slider.value = String(clock.step);
    this.slider.setAttribute('aria-valuetext', `step ${step} of ${episode.steps}`);
    this.now.replaceChildren(...this.sayNow(episode, step));
    this.pictures.mark(step - 1);
    if (!episode.curves) this.scene.redraw();
    this.moveCurves(step);
    this.moveEvidence(step);
    if (!this.evidenceFigure.hidden) {
      this.verdict.replaceChildren(evidenceSentence(episode, model.k, clock.step));
    }
    this.opinions.replaceChildren(this.opinion(episode));
    if (!this.actionFigure.hidden) this.actions.redraw();
  }

  private sayNow(episode: Trajectory, step: number): (Node | string)[] {
    const {behaviour} = this.model.report, kept = this.clock.step;
    const reward = isKnown(episode.rewards?.[kept])
      ? ` Reward ${number(episode.rewards[kept])}.` : '';
    const names = 'action_names' in behaviour ? behaviour.action_names : [];
    const action = behaviour.kind === 'grid' ? `Chose ${gridMove(behaviour, episode, kept)}.`
      : episode.actions ? `Chose ${names[episode.actions[kept]]}.`
        : behaviour.kind === 'path' ? `Action ${place(episode.continuous_actions![kept])}.` : '';
    return [h('strong', {}, `Step ${step} of ${episode.steps}.`), ` ${action}${reward}`];
  }

  private opinion(episode: Trajectory): HTMLElement | string {
    const {model} = this, {behaviour} = model.report;
    if (!episode.policies) {
      return h('p', {class: 'note'}, model.isAlternative
        ? 'Only the answer has policies that say what they would do at a step.'
        : 'This method’s centres are not policies, so they cannot say what they would do at a step.');
    }
    if (!episode.actions) return '';
    const names = 'action_names' in behaviour ? behaviour.action_names : [];
    return h('div', {class: 'scroll'}, probabilityTable(
        episode, model.k, names, model.label[episode.episode], this.clock.step));
  }

  private drawScene(width: number): Node {
    const {episode, model} = this, {behaviour} = model.report, step = this.clock.step;
    if (!episode) return h('div', {});
    const colour = () => clusterColour(model.label[episode.episode]);
    if (behaviour.kind === 'grid' && episode.grid) {
      return gridScene(Math.min(width, 400), behaviour, episode, step, colour);
    }
    if (behaviour.kind === 'path' && episode.path) {
      return pathScene(Math.min(width, 440), behaviour, episode, step, colour);
    }
    if (behaviour.kind !== 'curves' || !episode.curves) return h('div', {});
    const {element, move} = curveScene(width, model, behaviour, episode, this.curves);
    this.moveCurves = move;
    move(stepNumber(episode, step));
    return element;
  }

  private drawEvidence(width: number): Node {
    const {episode, model} = this;
    if (!episode?.evidence || model.k < 2) return h('div', {});
    const drawn = drawEvidence(width, episode, model.k);
    this.moveEvidence = cursor(drawn);
    this.moveEvidence(stepNumber(episode, this.clock.step));
    return drawn;
  }

  private drawActions(width: number): Node {
    const {episode, model, ranges} = this, {behaviour} = model.report, step = this.clock.step;
    if (!episode?.continuous_actions) return h('div', {});
    if (behaviour.kind === 'path') {
      return forcePlane(Math.min(width, 340), episode, model.k,
          [...ranges[0], ...ranges[1]] as [number, number, number, number], step);
    }
    if (!episode.policies || behaviour.kind !== 'curves') return h('div', {});
    const shown = actionOrder(behaviour).slice(0, shownActions);
    return meanRows(width, episode, model.k, behaviour.action_names, shown, ranges, step);
  }
}

function leftOut(behaviour: Behaviour): string {
  const all = behaviour.kind === 'curves' ? behaviour.action_names.length : 0;
  return all > shownActions
    ? ` The ${shownActions} of ${all} numbers in which the policies differ most.` : '';
}

function keptSteps(episode: Trajectory): number {
  return episode.actions?.length ?? episode.continuous_actions?.length ?? 1;
}

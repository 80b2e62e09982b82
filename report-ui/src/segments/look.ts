// One episode: its segments, what was done and seen, and how the evidence for who acts adds up.
import '../look/look.css';
import {picker} from '../behaviour/picker';
import {redrawable} from '../behaviour/redrawable';
import {h} from '../dom';
import {figure} from '../figure';
import {count, counted, measure} from '../format';
import {Clock} from '../look/clock';
import {cursor, type Cursor} from '../look/cursor';
import {Pictures} from '../look/pictures';
import {gridMove, gridScene, pathScene, type Scene} from '../look/scenes';
import {clusterName} from '../model';
import {clusterColour} from '../palette';
import {section} from '../section';
import {swatch} from '../swatch';
import {drawActions} from './actions';
import {drawEvidence, whoActs} from './evidence';
import {at, type Segment, type SegmentsModel} from './model';
import {takeover, unsureWords} from './strips';

const mostRows = 100;

class Look {
  readonly element: HTMLElement;
  private episode = 0;
  private segments: Segment[] = [];
  private shown: Scene | null = null;
  private moveCursor: Cursor = () => undefined;
  private moveActions: Cursor = () => undefined;

  private readonly clock = new Clock(() => this.update());
  private readonly title = h('h3', {});
  private readonly facts = h('p', {class: 'note'});
  private readonly now = h('p', {class: 'now'});
  private readonly missing = h('p', {class: 'note missing'});
  private readonly table = h('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Segments'});
  private readonly slider = h('input', {
    type: 'range', min: 0, value: 0, 'aria-label': 'Step',
    input: () => this.clock.go(Number(this.slider.value)),
  });
  private readonly play = h('button', {
    type: 'button', class: 'play', click: () => this.clock.toggle(),
  }, 'Play');
  private readonly drawing = redrawable((width) => this.draw(width));
  private readonly acting = redrawable((width) => this.drawActions(width));
  private readonly watching = redrawable((width) => this.drawScene(width));
  private readonly scene: HTMLElement;
  private readonly evidence: HTMLElement;
  private readonly actions: HTMLElement;
  private readonly pictures: Pictures;

  constructor(private readonly model: SegmentsModel) {
    this.missing.textContent = model.withEvidence.length
      ? 'The page holds evidence of some episodes only: those with most switches, the least sure, ' +
        'and some without a switch. Choose one of them above.'
      : 'There is no evidence of single steps beside these segments: episodes are very long, or an ' +
        'older program found them.';
    this.evidence = figure({
      title: 'Evidence so far', file: 'segments-evidence', draw: this.drawing.draw,
      caption: 'Held-out log-likelihood of all steps so far under each policy, less that of who acted ' +
        'at each of them. A policy’s line is level where it explains the steps as well as who acts, ' +
        'and falls where it does not. Vertical lines: switches, with the steps in which they lie ' +
        'with a chance of 90 %.',
    });
    const {actions, pictures, scene} = model.report;
    this.scene = figure({
      title: 'Step by step', file: 'segments-scene', draw: this.watching.draw,
      caption: (scene?.kind === 'grid'
        ? 'Circle: the agent; arrow: the action it chose. Line: its path, '
        : 'Dot: where it is; arrow: the direction of its action. Line: its way, ')
        + 'in the colour of who acted. Star: the goal.',
    });
    this.scene.classList.add('scene');
    this.actions = figure({
      title: 'What it does', file: 'segments-actions', draw: this.acting.draw,
      caption: 'The action of every step, in the colour of who acts.' +
        (actions && !actions.discrete && actions.of > actions.names.length
          ? ` Of ${actions.of} numbers those in which the policies differ most.` : ''),
    });
    this.pictures = new Pictures(pictures ?? null, model.n, (step) => this.clock.go(step));
    const step = (name: string, label: string, by: number) => h('button', {
      type: 'button', 'aria-label': label, click: () => this.clock.go(this.clock.step + by),
    }, name);
    this.element = h('div', {class: 'player'},
        this.title, this.facts,
        h('div', {class: 'controls transport'},
            step('Back', 'One step back', -1), this.play, step('Next', 'One step on', 1), this.slider),
        this.pictures.element, this.now, this.missing,
        h('div', {class: 'segments-look'},
            h('div', {}, this.evidence, this.actions), h('div', {}, this.scene, this.table)));
  }

  open(episode: number): void {
    const {model} = this, steps = model.length[episode];
    this.episode = episode;
    this.segments = model.segments(episode);
    this.title.textContent = `Episode ${model.id(episode)}`;
    this.facts.textContent =
      `${counted(steps, 'step')} · ${counted(model.switches(episode), 'switch', 'switches')}`;
    const known = model.evidence(episode);
    this.missing.hidden = known !== undefined;
    this.evidence.hidden = !known;
    this.actions.hidden = !known?.actions;
    this.shown = this.sceneOf(episode);
    this.scene.hidden = !this.shown;
    this.pictures.open({id: model.id(episode), steps, pictures: known?.pictures});
    this.slider.max = String(steps - 1);
    this.table.replaceChildren(this.segmentTable());
    this.drawing.redraw();
    this.acting.redraw();
    this.clock.start(steps);
  }

  private segmentTable(): HTMLElement {
    const {segments} = this, left = segments.length - mostRows;
    const head = ['Policy', 'Steps', 'Posterior', 'Took over at'];
    return h('table', {},
        left > 0 && h('caption', {}, `The first ${mostRows} of ${counted(segments.length, 'segment')}.`),
        h('thead', {}, h('tr', {}, ...head.map((name) => h('th', {scope: 'col'}, name)))),
        h('tbody', {}, ...segments.slice(0, mostRows).map((segment) => h('tr', {},
            h('th', {scope: 'row'}, swatch(segment.policy), clusterName(segment.policy)),
            h('td', {}, `${count(segment.begin + 1)} to ${count(segment.end)}`),
            h('td', {}, measure(segment.chance)),
            h('td', {}, segment.begin > 0 ? takeover(segment) : '–')))));
  }

  private draw(width: number): Node {
    const {model, episode} = this, evidence = model.evidence(episode);
    if (!evidence) return h('div', {});
    const drawn = drawEvidence(width, model.length[episode], model.k, evidence, this.segments);
    this.moveCursor = cursor(drawn);
    this.moveCursor(this.clock.step + 1);
    return drawn;
  }

  private drawActions(width: number): Node {
    const {model, episode} = this, evidence = model.evidence(episode), {actions, scene} = model.report;
    if (!evidence?.actions || !actions) return h('div', {});
    const names = scene?.kind === 'grid' ? scene.action_names : actions.names;
    const drawn = drawActions(
        width, model.length[episode], {...actions, names}, evidence, this.segments);
    this.moveActions = drawn.move;
    this.moveActions(this.clock.step + 1);
    return drawn.element;
  }

  /// " It chose left, but it went up.", on a map.
  private move(): string[] {
    const {shown} = this, {scene} = this.model.report;
    if (!shown?.actions || scene?.kind !== 'grid') return [];
    return [` It chose ${gridMove(scene, shown, Math.floor(this.clock.step / shown.stride))}.`];
  }

  /// What a scene shows of the episode.
  private sceneOf(episode: number): Scene | null {
    const {model} = this, own = model.evidence(episode), of = model.report.actions;
    if (!own?.grid && !own?.path) return null;
    const {stride, grid, path} = own, shown = {steps: model.length[episode], stride, grid, path};
    const taken = Array.from(own.actions ?? []);
    if (of?.discrete) return {...shown, actions: taken};
    const rows = Array.from({length: of ? taken.length / of.names.length : 0}, (_, kept) =>
      taken.slice(kept * of!.names.length, (kept + 1) * of!.names.length));
    return {...shown, continuous_actions: of?.names.length === of?.of ? rows : null};
  }

  private drawScene(width: number): Node {
    const {shown} = this, {scene} = this.model.report;
    if (!shown || !scene) return h('div', {});
    const kept = Math.floor(this.clock.step / shown.stride);
    const colour = (one: number) => clusterColour(at(this.segments, one * shown.stride).policy);
    return scene.kind === 'grid' ? gridScene(Math.min(width, 400), scene, shown, kept, colour)
      : pathScene(Math.min(width, 440), scene, shown, kept, colour);
  }

  private update(): void {
    const {model, episode, clock} = this, evidence = model.evidence(episode), {step} = clock;
    this.play.textContent = clock.playing ? 'Pause' : 'Play';
    this.slider.value = String(step);
    this.slider.setAttribute('aria-valuetext', `step ${step + 1} of ${model.length[episode]}`);
    const {policy} = at(this.segments, step);
    this.now.replaceChildren(
        h('span', {}, `Step ${count(step + 1)} of ${count(model.length[episode])}. `),
        ...evidence ? whoActs(model.k, evidence, this.segments, step)
          : [swatch(policy), `${clusterName(policy)} is acting.`],
        ...unsureWords(model.unsure(episode), policy, step), ...this.move());
    this.moveCursor(step + 1);
    this.moveActions(step + 1);
    this.pictures.mark(step);
    if (!this.scene.hidden) this.watching.redraw();
  }
}

/// Those the page holds evidence of, most switches first.
function notable(model: SegmentsModel): number[] {
  const episodes = model.withEvidence;
  return episodes.length ? episodes.sort((a, b) => model.switches(b) - model.switches(a) || a - b) : [0];
}

export function lookSection(model: SegmentsModel): HTMLElement {
  const look = new Look(model), episodes = notable(model);
  const names = episodes.map((i) =>
    `${model.id(i)}: ${counted(model.switches(i), 'switch', 'switches')}, least posterior ` +
    measure(model.leastChance(i)));
  const choice = picker('Episode', names, 0, (index) => model.select(episodes[index]));
  const content = section('look', 'Why, step by step',
      h('p', {class: 'lead'}, 'Choose an episode here or on the strips, and move along its steps.'),
      h('div', {class: 'controls'}, choice.element), look.element);
  look.open(episodes[0]);
  model.onSelect((episode) => {
    choice.show(episodes.indexOf(episode));
    look.open(episode);
    if (content.getBoundingClientRect().top > window.innerHeight * 0.8) {
      content.scrollIntoView({block: 'start'});
    }
  });
  return content;
}

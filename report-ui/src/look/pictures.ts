// What a camera saw of an episode: a strip of pictures, of which the one nearest to the step stands out.
import {h} from '../dom';
import {count, counted} from '../format';
import type {PictureSummary, Trajectory} from '../record';
import {segmented} from '../segmented';

/// The episode whose pictures are shown.
export interface Pictured {
  id: string;
  steps: number;
  pictures?: Trajectory['pictures'];
}

export class Pictures {
  readonly element = h('div', {class: 'pictures', hidden: true});
  private readonly strip = h('div', {class: 'strip'});
  private readonly choice: HTMLElement | null;
  private readonly note = h('p', {class: 'note'});
  private episode: Pictured | null = null;
  private camera = 0;
  private step = 0;

  /// `of`: what the page says of all pictures; `n`: of how many episodes there could be some. `go` is
  /// called with the step, from 0, of a picture that was chosen.
  constructor(private readonly of: PictureSummary | null, private readonly n: number,
      private readonly go: (step: number) => void) {
    const names = this.cameras.map((name, value) => ({name, value}));
    this.choice = names.length < 2 ? null : segmented('Camera', names, 0, (camera) => {
      this.camera = camera;
      this.draw();
    });
    this.element.append(...this.choice ? [this.choice] : [], this.strip, this.note);
  }

  open(episode: Pictured): void {
    const own = episode.pictures, {of} = this;
    this.episode = episode;
    this.element.hidden = !own && !of?.episodes && !of?.problem;
    this.strip.hidden = !own;
    if (this.choice) this.choice.hidden = !own;
    this.note.textContent = this.sayWhich(own !== undefined);
    this.note.hidden = !this.note.textContent;
    this.draw();
  }

  /// `step` from 0.
  mark(step: number): void {
    this.step = step;
    const steps = this.episode?.pictures?.steps ?? [];
    const away = steps.map((one) => Math.abs(one - step)), nearest = away.indexOf(Math.min(...away));
    [...this.strip.children].forEach((picture, i) => {
      if (i === nearest) picture.setAttribute('aria-current', 'step');
      else picture.removeAttribute('aria-current');
    });
  }

  private get cameras(): string[] {
    return this.of?.cameras ?? [];
  }

  private draw(): void {
    const {episode} = this, own = episode?.pictures;
    this.strip.replaceChildren(...own ? own.steps.map((step, i) =>
      this.picture(episode, step, own.cameras[this.camera]?.[i] ?? null)) : []);
    this.mark(this.step);
  }

  private picture(episode: Pictured, step: number, address: string | null): HTMLElement {
    const place = `step ${count(step + 1)} of ${count(episode.steps)}`;
    const alt = `episode ${episode.id}, ${place}, camera ${this.cameras[this.camera]}`;
    return h('button', {
      type: 'button', class: 'picture', title: `Go to ${place}`, click: () => this.go(step),
    },
    address ? h('img', {src: address, alt}) : h('span', {class: 'no-picture'}, 'no picture'),
    h('span', {}, `step ${count(step + 1)}`));
  }

  /// Where not every trajectory has pictures.
  private sayWhich(here: boolean): string {
    const {of, n} = this;
    if (!of) return '';
    if (of.episodes === 0) return of.problem ? `No pictures: ${of.problem}.` : '';
    if (of.episodes === n) return '';
    const kept = `Pictures of ${count(of.episodes)} of ${counted(n, 'trajectory', 'trajectories')}`
      + ' are kept in this page';
    return here ? `${kept}.` : `${kept}, not of this one.`;
  }
}

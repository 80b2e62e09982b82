// The step an episode is at: moved by hand, or by itself while it plays.
export class Clock {
  private at = 0;
  private count = 1;
  private speed = 1;
  private timer: number | null = null;

  /// Called after every change.
  constructor(private readonly changed: () => void) {}

  get step(): number { return this.at; }
  get last(): number { return this.count - 1; }
  get playing(): boolean { return this.timer !== null; }

  start(count: number): void {
    this.pause();
    this.count = Math.max(1, count);
    this.go(0);
  }

  go(step: number): void {
    this.at = Math.min(this.last, Math.max(0, step));
    if (this.at === this.last) this.pause();
    this.changed();
  }

  toggle(): void {
    if (this.playing) {
      this.pause();
      this.changed();
    } else if (this.last > 0) {
      if (this.at === this.last) this.at = 0;
      this.run();
      this.changed();
    }
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    if (this.playing) this.run();
  }

  private pause(): void {
    if (this.timer !== null) window.clearInterval(this.timer);
    this.timer = null;
  }

  private run(): void {
    this.pause();
    this.timer = window.setInterval(() => this.go(this.at + 1), 1000 / (this.rate() * this.speed));
  }

  /// Steps a second: an episode takes about twenty seconds; one step where motion is not wanted.
  private rate(): number {
    if (window.matchMedia('(prefers-reduced-motion: reduce)').matches) return 1;
    return Math.min(15, Math.max(3, this.count / 20));
  }
}

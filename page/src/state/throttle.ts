// SPDX-License-Identifier: Apache-2.0

const MIN_PAUSE_MS = 150;
const MAX_PAUSE_MS = 10_000;

/**
 * Runs an asynchronous action once per trigger, at most one at a time.
 *
 * Triggers during a run or the pause after it are combined into one further run. The pause is four times the duration
 * of the run, so that the action takes at most a fifth of the time, within MIN_PAUSE_MS and MAX_PAUSE_MS.
 */
export class Throttle {
  private requested = false;
  private running = false;

  constructor(
    private readonly action: () => Promise<void>,
    private readonly wait: (milliseconds: number) => Promise<void>,
    private readonly now: () => number,
  ) {}

  /** Request a run. Resolves when no run is pending. */
  async trigger(): Promise<void> {
    this.requested = true;
    if (this.running) return;
    this.running = true;
    try {
      while (this.requested) {
        this.requested = false;
        const started = this.now();
        await this.action();
        await this.wait(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, (this.now() - started) * 4)));
      }
    } finally {
      this.running = false;
    }
  }
}

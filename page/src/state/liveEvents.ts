// SPDX-License-Identifier: Apache-2.0
import type { Pair } from "../model/apiTypes";
import { nodeId } from "../model/ids";
import type { State } from "../model/graph";

/** What `/api/v1/changes` says of an event. */
export interface Change {
  readonly kind: string;
  readonly eventTime: string;
  readonly eventType?: string;
  readonly job?: Pair;
  readonly dataset?: Pair;
  readonly run?: string;
}

const AFTER: Readonly<Record<string, State>> = {
  START: "running",
  RUNNING: "running",
  COMPLETE: "completed",
  ABORT: "aborted",
  FAIL: "failed",
};

/**
 * The state that a job most likely has after an event: shown at once, until the service's own word arrives, which
 * knows what is late and what was said before.
 */
export function presumedState(change: Change): { readonly id: string; readonly state: State } | undefined {
  const state = AFTER[change.eventType ?? ""];
  return state && change.job ? { id: nodeId("job", change.job), state } : undefined;
}

/**
 * What is still to be presumed once the service's word of a moment has arrived: the states of jobs of which something
 * was heard since it was asked.
 */
export function stillPresumed(
  presumed: ReadonlyMap<string, State>,
  heard: ReadonlyMap<string, number>,
  asked: number,
): Map<string, State> {
  return new Map([...presumed].filter(([id]) => (heard.get(id) ?? 0) >= asked));
}

/**
 * Calls `read` after each `tell`: at once where nothing is being read, else once more afterwards. What takes long to
 * read is read for a fifth of the time at most.
 */
export class Throttle {
  private due = false;
  private reading = false;

  constructor(
    private readonly read: () => Promise<void>,
    private readonly wait: (milliseconds: number) => Promise<void>,
    private readonly now: () => number,
  ) {}

  /** Returns when nothing is left to be read. */
  async tell(): Promise<void> {
    this.due = true;
    if (this.reading) return;
    this.reading = true;
    try {
      while (this.due) {
        this.due = false;
        const began = this.now();
        await this.read();
        await this.wait(Math.min(LONGEST, Math.max(SHORTEST, (this.now() - began) * 4)));
      }
    } finally {
      this.reading = false;
    }
  }
}

const SHORTEST = 150;
const LONGEST = 10_000;

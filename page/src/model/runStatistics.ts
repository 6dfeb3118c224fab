// SPDX-License-Identifier: Apache-2.0
import type { Pair } from "./apiTypes";

interface Use extends Pair {
  readonly inputFacets?: Readonly<Record<string, Counts | undefined>>;
  readonly outputFacets?: Readonly<Record<string, Counts | undefined>>;
}

interface Counts {
  readonly rowCount?: number;
  readonly size?: number;
}

/** An OpenLineage run event, as far as the page reads it. */
export interface Event {
  readonly eventType?: string;
  readonly eventTime: string;
  readonly inputs?: readonly Use[];
  readonly outputs?: readonly Use[];
}

/** What a run said of the rows and bytes that it read or wrote; null where it did not say. */
export interface Transfer {
  readonly direction: "input" | "output";
  readonly dataset: string;
  readonly rows: number | null;
  readonly size: number | null;
}

/** Sums by dataset over the events of a run: a streaming run counts each of its batches in an event of its own. */
export function statistics(events: readonly Event[]): Transfer[] {
  const found = new Map<string, Transfer>();
  const add = (direction: Transfer["direction"], use: Use, counts: Counts | undefined): void => {
    if (!counts || (counts.rowCount === undefined && counts.size === undefined)) return;
    const key = `${direction} ${use.namespace} ${use.name}`;
    const known = found.get(key);
    found.set(key, {
      direction,
      dataset: use.name,
      rows: sum(known?.rows ?? null, counts.rowCount),
      size: sum(known?.size ?? null, counts.size),
    });
  };
  for (const event of events) {
    for (const use of event.inputs ?? []) add("input", use, use.inputFacets?.inputStatistics);
    for (const use of event.outputs ?? []) add("output", use, use.outputFacets?.outputStatistics);
  }
  return [...found.values()];
}

function sum(known: number | null, more: number | undefined): number | null {
  return more === undefined ? known : (known ?? 0) + more;
}

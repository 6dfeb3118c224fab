// SPDX-License-Identifier: Apache-2.0
import type { QualifiedName } from "./apiTypes";

interface EventDataset extends QualifiedName {
  readonly inputFacets?: Readonly<Record<string, StatisticsFacet | undefined>>;
  readonly outputFacets?: Readonly<Record<string, StatisticsFacet | undefined>>;
}

interface StatisticsFacet {
  readonly rowCount?: number;
  readonly size?: number;
  /** Nulls by column, in the facet `lineageLab_writtenNulls`. */
  readonly columns?: unknown;
}

/** The fields of an OpenLineage run event that the page uses. */
export interface RunEvent {
  readonly eventType?: string;
  readonly eventTime: string;
  readonly inputs?: readonly EventDataset[];
  readonly outputs?: readonly EventDataset[];
}

/**
 * Rows and bytes that a run read from or wrote to a dataset; null where its events do not report them. `nulls` are columns
 * in which it wrote some.
 */
export interface DatasetStatistics {
  readonly direction: "input" | "output";
  readonly dataset: string;
  readonly rows: number | null;
  readonly size: number | null;
  readonly nulls: ReadonlyMap<string, number>;
}

/** Totals per dataset over the events of a run. A streaming run reports each batch in a separate event. */
export function datasetStatistics(events: readonly RunEvent[]): DatasetStatistics[] {
  const found = new Map<string, DatasetStatistics>();
  const add = (
    direction: DatasetStatistics["direction"],
    dataset: EventDataset,
    facet: StatisticsFacet | undefined,
    nulls?: StatisticsFacet,
  ): void => {
    if (!facet || (numberOf(facet.rowCount) === undefined && numberOf(facet.size) === undefined)) return;
    const key = `${direction} ${dataset.namespace} ${dataset.name}`;
    const known = found.get(key);
    found.set(key, {
      direction,
      dataset: dataset.name,
      rows: sum(known?.rows ?? null, numberOf(facet.rowCount)),
      size: sum(known?.size ?? null, numberOf(facet.size)),
      nulls: withNulls(known?.nulls ?? new Map(), nulls?.columns),
    });
  };
  for (const event of events) {
    for (const dataset of event.inputs ?? []) add("input", dataset, dataset.inputFacets?.inputStatistics);
    for (const dataset of event.outputs ?? []) {
      const facets = dataset.outputFacets;
      add("output", dataset, facets?.outputStatistics, facets?.lineageLab_writtenNulls);
    }
  }
  return [...found.values()];
}

function withNulls(known: ReadonlyMap<string, number>, columns: unknown): ReadonlyMap<string, number> {
  if (typeof columns !== "object" || columns === null) return known;
  const found = new Map(known);
  for (const [column, value] of Object.entries(columns)) {
    const count = numberOf(value) ?? 0;
    if (count > 0) found.set(column, (found.get(column) ?? 0) + count);
  }
  return found;
}

/** A number of a facet, whose content is not validated. */
function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function sum(known: number | null, more: number | undefined): number | null {
  return more === undefined ? known : (known ?? 0) + more;
}

// SPDX-License-Identifier: Apache-2.0
import type { Digraph } from "../layout/digraph";
import { type Layout, layOut, type Sizes } from "../layout/layout";
import { type ColumnIndex, columnIndex, type ColumnPath, columnPath } from "../model/columnPath";
import { type Column, type GraphExport, NO_SUMMARIES, type Summaries } from "../model/apiTypes";
import { type Change, changesOf, compared, type DifferenceAnswer, type Marks } from "../model/diff";
import { EMPTY_GRAPH, type Graph, type GraphNode, graphOf, summariesOf, withoutIdleJobs } from "../model/graph";
import { type Hit, search, type SearchIndex, searchIndex } from "../model/search";

/** A graph that was read: its edges, and how many nodes there are to be fetched. */
export interface Loaded {
  /** Tells it from those that were read before and after. */
  readonly generation: number;
  readonly count: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** What became of nodes and edges since an earlier moment; null where none was named. */
  readonly marks: Marks | null;
}


/** What a search found. `partial`: columns were not looked through, because they are still being read. */
export interface Found {
  readonly hits: readonly Hit[];
  readonly partial: boolean;
}

/**
 * Whatever takes long, away from the thread that draws: reading and indexing the graph, layout, search, paths.
 *
 * The first picture needs only summaries; the export, which has all columns, is ten times as large and is read when
 * somebody asks for columns.
 */
export class Engine {
  private summaries: Summaries = NO_SUMMARIES;
  private graph: Graph = EMPTY_GRAPH;
  private difference: DifferenceAnswer | null = null;
  private generation = 0;
  private reading: Promise<GraphExport> | null = null;
  private read: GraphExport | null = null;
  private columns: ColumnIndex | null = null;
  private names: SearchIndex | null = null;

  constructor(private readonly fetchJson: (path: string) => Promise<unknown>) {}

  /**
   * Read the graph as it is, or as it was at a time (RFC 3339), without jobs that move no data; with `since`, an earlier
   * time, what was removed since then is in it too, and everything that is other than it was is marked.
   *
   * Null where another graph was asked for meanwhile: the last question wins, not the slowest answer.
   */
  async load(asOf: string | null, since: string | null = null): Promise<Loaded | null> {
    const generation = ++this.generation;
    const difference = since === null ? null : await this.readDifference(since, asOf);
    const path = asOf === null ? "/api/v1/summaries" : `/api/v1/graph?asOf=${encodeURIComponent(asOf)}`;
    const answer = await this.fetchJson(path);
    if (generation !== this.generation) return null;
    const past = asOf === null ? null : (answer as GraphExport);
    this.summaries = past === null ? (answer as Summaries) : summariesOf(past);
    this.forget(past);
    const graph = withoutIdleJobs(graphOf(this.summaries));
    const { graph: shown, marks } = difference === null ? { graph, marks: null } : compared(graph, difference);
    this.difference = difference;
    this.graph = shown;
    const { nodes, from, to } = shown;
    return { generation, count: nodes.length, from, to, marks };
  }

  /** The changes that a node has part in, of the difference that was read. */
  changesOf(id: string): readonly Change[] {
    return this.difference === null ? [] : changesOf(this.difference, id);
  }

  /** Some nodes of the graph that was read, in slices that no thread is long busy with; null if it is another now. */
  nodes(generation: number, start: number, count: number): readonly GraphNode[] | null {
    return generation === this.generation ? this.graph.nodes.slice(start, start + count) : null;
  }

  search(text: string, limit: number): Found {
    this.names ??= searchIndex(this.graph, this.read, this.summaries);
    return { hits: search(this.names, text, limit), partial: this.read === null };
  }

  /** Make sure that columns are known, for a search through them. */
  async readColumns(): Promise<void> {
    await this.export();
  }

  async columnPath(start: Column): Promise<ColumnPath> {
    const found = await this.export();
    this.columns ??= columnIndex(found);
    return columnPath(this.columns, start);
  }

  layOut(graph: Digraph, sizes: Sizes): Layout {
    return layOut(graph, sizes);
  }

  private async readDifference(since: string, until: string | null): Promise<DifferenceAnswer> {
    const values = new URLSearchParams({ from: since, ...(until === null ? {} : { to: until }) });
    return (await this.fetchJson(`/api/v1/diff?${values}`)) as DifferenceAnswer;
  }

  private async export(): Promise<GraphExport> {
    if (this.read !== null) return this.read;
    const reading = (this.reading ??= this.fetchJson("/api/v1/graph") as Promise<GraphExport>);
    try {
      const found = await reading;
      // Another graph may have been loaded meanwhile, which this one is not the export of.
      if (this.reading === reading) {
        this.read = found;
        this.names = null;
      }
      return found;
    } finally {
      if (this.reading === reading) this.reading = null;
    }
  }

  private forget(found: GraphExport | null): void {
    this.read = found;
    this.reading = null;
    this.columns = null;
    this.names = null;
  }
}

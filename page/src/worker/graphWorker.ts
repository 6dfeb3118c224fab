// SPDX-License-Identifier: Apache-2.0
import type { Digraph } from "../layout/digraph";
import { type Layout, layoutGraph } from "../layout/layout";
import type { LayoutSizes } from "../layout/sizes";
import { type CarriedTag, carriedTags } from "../model/carriedTags";
import { type ColumnIndex, buildColumnIndex, type ColumnPath, columnPath } from "../model/columnPath";
import { type ColumnRef, type Field, type GraphExport, EMPTY_SUMMARIES, type QualifiedName, type Summaries } from "../model/apiTypes";
import { type DiffChange, changesOf, applyDiff, type DiffResponse, type DiffStatuses } from "../model/diff";
import { RequestError, TOO_LARGE } from "../api";
import { EMPTY_GRAPH, type Graph, type GraphNode, graphOf, MAX_EXPORTED_NODES, PART_DEPTH, summariesOf, removeIdleJobs } from "../model/graph";
import { apiPath, nodeId } from "../model/ids";
import { inactiveNodes } from "../model/inactive";
import { type RunNode, runTrees } from "../model/runTree";
import { type SearchHit, search, type SearchIndex, searchIndex } from "../model/search";

/** A loaded graph: its edges, and the number of nodes, which are fetched with `nodes`. */
export interface LoadedGraph {
  /** Identifies the graph. Each load has a new generation. */
  readonly generation: number;
  readonly count: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** 1 for each node that is over. */
  readonly inactive: Uint8Array;
  /** Diff status of nodes and edges; null without a comparison. */
  readonly statuses: DiffStatuses | null;
  /** A graph of another time, or a comparison, that has only what is around a node, because all would be too much. */
  readonly isPart: boolean;
}

/** Result of a search. `partial`: columns were not searched yet, because they have not been loaded. */
export interface SearchResult {
  readonly hits: readonly SearchHit[];
  readonly partial: boolean;
  /** Columns are not searched: the graph has too many nodes. */
  readonly namesOnly: boolean;
}

const NODE_REQUIRED =
  `The graph has more than ${MAX_EXPORTED_NODES.toLocaleString("en")} nodes, too many to show all of them at another time. ` +
  "Go back to now and select a job or dataset: what is around it is shown at any time.";

/**
 * Loads and indexes the graph, searches it, and computes layouts and column paths, off the main thread.
 *
 * The graph view needs only the summaries. The export with all columns is ten times as large and is loaded on demand.
 */
export class GraphWorker {
  private summaries: Summaries = EMPTY_SUMMARIES;
  private graph: Graph = EMPTY_GRAPH;
  private diff: DiffResponse | null = null;
  private generation = 0;
  /** Number of nodes of the current graph; null until it was loaded. */
  private currentSize: number | null = null;
  private pendingExport: Promise<GraphExport> | null = null;
  private exported: GraphExport | null = null;
  private columnIndex: ColumnIndex | null = null;
  private searchIndex: SearchIndex | null = null;

  constructor(private readonly fetchJson: (path: string) => Promise<unknown>) {}

  /**
   * Load the current graph, or the graph at a time (RFC 3339), without jobs that have no inputs and outputs. With
   * `since`, an earlier time, the graph includes removed nodes and edges, and the status of each change. If the current
   * graph is large, the past graph and the changes are those around a node. Throws RequestError (`TOO_LARGE`)
   * without one.
   *
   * Returns null if another load was started meanwhile: the last request wins, not the slowest response.
   */
  async load(asOf: string | null, since: string | null = null, node = ""): Promise<LoadedGraph | null> {
    const generation = ++this.generation;
    const current = asOf === null ? await this.fetchSummaries() : null;
    if (generation !== this.generation) return null;
    const part = asOf === null && since === null ? {} : await this.partAround(node);
    const diff = since === null ? null : await this.fetchDiff(since, asOf, part);
    const past = asOf === null ? null : await this.fetchPast(asOf, part);
    if (generation !== this.generation) return null;
    this.summaries = current ?? summariesOf(past!);
    this.resetIndexes(past);
    const graph = removeIdleJobs(graphOf(this.summaries));
    const { graph: shown, statuses } = diff === null ? { graph, statuses: null } : applyDiff(graph, diff);
    this.diff = diff;
    this.graph = shown;
    const { nodes, from, to } = shown;
    const isPart = "nodeId" in part;
    return { generation, count: nodes.length, from, to, inactive: inactiveNodes(shown), statuses, isPart };
  }

  /** The changes of the loaded diff that affect a node. */
  changesOf(id: string): readonly DiffChange[] {
    return this.diff === null ? [] : changesOf(this.diff, id);
  }

  /** A slice of the nodes, small enough not to block a thread; null if `generation` is not the loaded graph. */
  nodes(generation: number, start: number, count: number): readonly GraphNode[] | null {
    return generation === this.generation ? this.graph.nodes.slice(start, start + count) : null;
  }

  search(text: string, limit: number): SearchResult {
    this.searchIndex ??= searchIndex(this.graph, this.exported, this.summaries);
    const namesOnly = this.isLarge();
    return { hits: search(this.searchIndex, text, limit), partial: this.exported === null && !namesOnly, namesOnly };
  }

  /** Load the export, so that a search includes columns, unless the graph is too large for that. */
  async loadColumns(): Promise<void> {
    if (!this.isLarge()) await this.loadExport();
  }

  /** Names of the columns of datasets: of the loaded export, else of one request each. Unknown datasets are left out. */
  async columnsOf(ids: readonly string[]): Promise<readonly { readonly id: string; readonly names: readonly string[] }[]> {
    const nodes = new Map(this.graph.nodes.map((node) => [node.id, node]));
    const exported = this.exported && new Map(this.exported.datasets.map((dataset) => [nodeId("dataset", dataset), dataset]));
    const fieldsOf = async (id: string): Promise<readonly Field[] | undefined> => {
      const node = nodes.get(id);
      if (exported || !node) return exported?.get(id)?.fields;
      return ((await this.fetchJson(apiPath("dataset", node))) as { readonly fields: readonly Field[] }).fields;
    };
    const found = await Promise.all(ids.map(async (id) => ({ id, fields: await fieldsOf(id) })));
    return found.flatMap(({ id, fields }) => (fields ? [{ id, names: fields.map(({ name }) => name) }] : []));
  }

  /** Lineage of a column; in a large graph of the columns that are two jobs away. */
  async columnPath(start: ColumnRef): Promise<ColumnPath> {
    if (this.isLarge()) return this.partOfColumnPath(start);
    const found = await this.loadExport();
    this.columnIndex ??= buildColumnIndex(found);
    return columnPath(this.columnIndex, start);
  }

  /** Tags that columns of a dataset get from others; none in a graph whose export is too large to load for that. */
  async carriedTags(dataset: QualifiedName, columns: readonly string[]): Promise<readonly CarriedTag[]> {
    if (this.isLarge()) return [];
    const found = await this.loadExport();
    this.columnIndex ??= buildColumnIndex(found);
    return carriedTags(this.columnIndex, this.summaries, dataset, columns);
  }

  /** The newest trees of runs of all jobs, also of those without datasets. */
  runTrees(limit: number): readonly RunNode[] {
    return runTrees(this.summaries.jobs).slice(0, limit);
  }

  layoutGraph(graph: Digraph, sizes: LayoutSizes): Layout {
    return layoutGraph(graph, sizes);
  }

  /** The columns of all nodes are too many to be loaded. Those of a past graph come with it. */
  private isLarge(): boolean {
    return this.exported === null && this.graph.nodes.length > MAX_EXPORTED_NODES;
  }

  private async partOfColumnPath(start: ColumnRef): Promise<ColumnPath> {
    const values = new URLSearchParams({ nodeId: nodeId("dataset", start), depth: String(PART_DEPTH) });
    const part = (await this.fetchJson(`/api/v1/graph?${values}`)) as GraphExport;
    const path = columnPath(buildColumnIndex(part), start);
    return { ...path, truncated: path.truncated || path.nodes.some(({ distance }) => Math.abs(distance) > PART_DEPTH) };
  }

  /** Parameters of the part of a large graph around a node; none in a graph that can be loaded as a whole. */
  private async partAround(node: string): Promise<Record<string, string>> {
    if (this.currentSize === null) await this.fetchSummaries();
    if (this.currentSize! <= MAX_EXPORTED_NODES) return {};
    if (node === "") throw new RequestError(NODE_REQUIRED, TOO_LARGE);
    return { nodeId: node, depth: String(PART_DEPTH) };
  }

  private async fetchSummaries(): Promise<Summaries> {
    const found = (await this.fetchJson("/api/v1/summaries")) as Summaries;
    this.currentSize = found.jobs.length + found.datasets.length;
    return found;
  }

  private async fetchPast(asOf: string, part: Record<string, string>): Promise<GraphExport> {
    return (await this.fetchJson(`/api/v1/graph?${new URLSearchParams({ asOf, ...part })}`)) as GraphExport;
  }

  private async fetchDiff(since: string, until: string | null, part: Record<string, string>): Promise<DiffResponse> {
    const values = new URLSearchParams({ from: since, ...(until === null ? {} : { to: until }), ...part });
    return (await this.fetchJson(`/api/v1/diff?${values}`)) as DiffResponse;
  }

  private async loadExport(): Promise<GraphExport> {
    if (this.exported !== null) return this.exported;
    const reading = (this.pendingExport ??= this.fetchJson("/api/v1/graph") as Promise<GraphExport>);
    try {
      const found = await reading;
      // Discard the export if another graph was loaded meanwhile.
      if (this.pendingExport === reading) {
        this.exported = found;
        this.searchIndex = null;
      }
      return found;
    } finally {
      if (this.pendingExport === reading) this.pendingExport = null;
    }
  }

  private resetIndexes(found: GraphExport | null): void {
    this.exported = found;
    this.pendingExport = null;
    this.columnIndex = null;
    this.searchIndex = null;
  }
}

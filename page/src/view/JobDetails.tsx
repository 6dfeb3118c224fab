// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import type { Pair } from "../model/apiTypes";
import { type GraphNode, stateOf } from "../model/graph";
import { apiPath, nodeId } from "../model/ids";
import { shown } from "../model/names";
import type { Run } from "../model/runs";
import { graph, nodeById } from "../state/store";
import { ago, duration, moment } from "./format";
import { Elsewhere, NodeLink, RunState, Section } from "./components";
import { useResource } from "./useResource";
import { RunDetails } from "./RunDetails";

interface JobAnswer {
  readonly inputs: readonly Pair[];
  readonly outputs: readonly Pair[];
  readonly location: string | null;
  readonly facets: { readonly sql?: { readonly query?: string } } & Readonly<Record<string, unknown>>;
  readonly vanishedEdges: readonly {
    readonly direction: string;
    readonly dataset: Pair;
    readonly since: string;
    readonly reason: string;
  }[];
}

const SHOWN_RUNS = 25;

/** What a job reads and writes, its runs, and what one of them said. */
export function JobDetails({ node }: { readonly node: GraphNode }) {
  const path = apiPath("job", node);
  const job = useResource<JobAnswer>(path, graph.value);
  const runs = useResource<{ readonly runs: readonly Run[]; readonly totalCount: number }>(
    `${path}/runs?limit=${SHOWN_RUNS}`,
    graph.value,
  );
  const [chosen, choose] = useState("");
  if (job.error) return <p class="error">{job.error}</p>;
  if (!job.value || !runs.value) return <p class="faint">Reading …</p>;
  const run = runs.value.runs.find(({ id }) => id === chosen) ?? runs.value.runs[0];
  return (
    <>
      <Section title={`Runs (${runs.value.totalCount})`}>
        <Timeline runs={runs.value.runs} chosen={run?.id ?? ""} choose={choose} />
        {run && <RunDetails key={run.id} run={run} />}
      </Section>
      <Section title="Reads">
        <Datasets pairs={job.value.inputs} none="It reads no dataset." />
      </Section>
      <Section title="Writes">
        <Datasets pairs={job.value.outputs} none="It writes no dataset." />
      </Section>
      {job.value.vanishedEdges.length > 0 && (
        <Section title="No longer">
          <ul class="plain">
            {job.value.vanishedEdges.map((edge) => (
              <li key={`${edge.direction}${nodeId("dataset", edge.dataset)}`}>
                {edge.direction === "input" ? "reads" : "writes"} <NodeLink kind="dataset" node={edge.dataset} />{" "}
                <small>
                  since {moment(edge.since)}: {shown(edge.reason)}
                </small>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {job.value.facets.sql?.query && (
        <Section title="SQL">
          <pre tabIndex={0}>{job.value.facets.sql.query}</pre>
        </Section>
      )}
      {job.value.location && (
        <Section title="Source">
          <Elsewhere url={job.value.location} />
        </Section>
      )}
      <Section title="Facets as they stand" open={false}>
        <pre tabIndex={0}>{JSON.stringify(job.value.facets, null, 2)}</pre>
      </Section>
    </>
  );
}

function Datasets({ pairs, none }: { readonly pairs: readonly Pair[]; readonly none: string }) {
  if (pairs.length === 0) return <p class="faint">{none}</p>;
  return (
    <ul class="plain">
      {pairs.map((pair) => {
        const at = nodeById.value.get(nodeId("dataset", pair));
        const known = at === undefined ? undefined : graph.value.nodes[at];
        return (
          <li key={nodeId("dataset", pair)}>
            <NodeLink kind="dataset" node={pair} {...(known ? { engine: known.engine } : {})} />{" "}
            <small>{shown(pair.namespace)}</small>
          </li>
        );
      })}
    </ul>
  );
}

/** Runs as bars over the time that they took, the latest on top. */
function Timeline(props: {
  readonly runs: readonly Run[];
  readonly chosen: string;
  readonly choose: (id: string) => void;
}) {
  if (props.runs.length === 0) return <p class="faint">It has not run yet.</p>;
  const now = Date.now();
  const spans = props.runs.map((run) => {
    const from = Date.parse(run.startedAt ?? run.createdAt);
    return {
      run,
      from,
      to: Math.max(
        from,
        run.endedAt ? Date.parse(run.endedAt) : run.state === "RUNNING" ? now : Date.parse(run.updatedAt),
      ),
    };
  });
  const first = Math.min(...spans.map(({ from }) => from));
  const whole = Math.max(1, Math.max(...spans.map(({ to }) => to)) - first);
  return (
    <ol class="timeline">
      {spans.map(({ run, from, to }) => (
        <li key={run.id}>
          <button type="button" aria-pressed={run.id === props.chosen} onClick={() => props.choose(run.id)}>
            <RunState state={run.state} stale={run.stale} />
            <span class="when" title={moment(run.startedAt ?? run.createdAt)}>
              {ago(run.startedAt ?? run.createdAt, now)}
            </span>
            <span class="took">{duration(to - from)}</span>
            <span class="track" aria-hidden="true">
              <span
                class={`bar ${stateOf(run.state, run.stale)}`}
                style={{
                  left: `${((from - first) / whole) * 100}%`,
                  width: `${Math.max(1.5, ((to - from) / whole) * 100)}%`,
                }}
              />
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}

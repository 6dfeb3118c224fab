// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import type { QualifiedName } from "../model/apiTypes";
import { type GraphNode, stateOf } from "../model/graph";
import { apiPath, nodeId } from "../model/ids";
import { displayText } from "../model/names";
import type { Run } from "../model/runs";
import { graph, nodeIndexById } from "../state/store";
import { formatAge, formatDuration, formatTime } from "./format";
import { ExternalLink, NodeLink, RunStateBadge, Section, Unavailable } from "./components";
import { useResource } from "./useResource";
import { RunDetails } from "./RunDetails";

interface JobResponse {
  readonly inputs: readonly QualifiedName[];
  readonly outputs: readonly QualifiedName[];
  readonly location: string | null;
  readonly facets: { readonly sql?: { readonly query?: string } } & Readonly<Record<string, unknown>>;
  readonly vanishedEdges: readonly {
    readonly direction: string;
    readonly dataset: QualifiedName;
    readonly since: string;
    readonly reason: string;
  }[];
}

const MAX_RUNS = 25;

/** Runs, inputs, outputs and facets of a job. */
export function JobDetails({ node }: { readonly node: GraphNode }) {
  const path = apiPath("job", node);
  const job = useResource<JobResponse>(path, graph.value);
  const runs = useResource<{ readonly runs: readonly Run[]; readonly totalCount: number }>(
    `${path}/runs?limit=${MAX_RUNS}`,
    graph.value,
  );
  const [chosen, choose] = useState("");
  if (!job.value || !runs.value) return <Unavailable error={job.error ?? runs.error} />;
  const run = runs.value.runs.find(({ id }) => id === chosen) ?? runs.value.runs[0];
  return (
    <>
      <Section title={`Runs (${runs.value.totalCount})`}>
        <Timeline runs={runs.value.runs} chosen={run?.id ?? ""} choose={choose} />
        {run && <RunDetails key={run.id} run={run} />}
      </Section>
      <Section title="Inputs">
        <Datasets pairs={job.value.inputs} none="No input datasets." />
      </Section>
      <Section title="Outputs">
        <Datasets pairs={job.value.outputs} none="No output datasets." />
      </Section>
      {job.value.vanishedEdges.length > 0 && (
        <Section title="Former inputs and outputs">
          <ul class="plain">
            {job.value.vanishedEdges.map((edge) => (
              <li key={`${edge.direction}${nodeId("dataset", edge.dataset)}`}>
                {edge.direction === "input" ? "input" : "output"} <NodeLink kind="dataset" node={edge.dataset} />{" "}
                <small>
                  since {formatTime(edge.since)}: {displayText(edge.reason)}
                </small>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {typeof job.value.facets.sql?.query === "string" && (
        <Section title="SQL">
          <pre tabIndex={0}>{job.value.facets.sql.query}</pre>
        </Section>
      )}
      {job.value.location && (
        <Section title="Source code">
          <ExternalLink url={job.value.location} />
        </Section>
      )}
      <Section title="Raw facets" open={false}>
        <pre tabIndex={0}>{JSON.stringify(job.value.facets, null, 2)}</pre>
      </Section>
    </>
  );
}

function Datasets({ pairs, none }: { readonly pairs: readonly QualifiedName[]; readonly none: string }) {
  if (pairs.length === 0) return <p class="faint">{none}</p>;
  return (
    <ul class="plain">
      {pairs.map((pair) => {
        const at = nodeIndexById.value.get(nodeId("dataset", pair));
        const known = at === undefined ? undefined : graph.value.nodes[at];
        return (
          <li key={nodeId("dataset", pair)}>
            <NodeLink kind="dataset" node={pair} {...(known ? { engine: known.engine } : {})} />{" "}
            <small>{displayText(pair.namespace)}</small>
          </li>
        );
      })}
    </ul>
  );
}

/** Runs as bars on a time axis, latest first. */
function Timeline(props: {
  readonly runs: readonly Run[];
  readonly chosen: string;
  readonly choose: (id: string) => void;
}) {
  if (props.runs.length === 0) return <p class="faint">No runs yet.</p>;
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
  const duration = Math.max(1, Math.max(...spans.map(({ to }) => to)) - first);
  return (
    <ol class="timeline">
      {spans.map(({ run, from, to }) => (
        <li key={run.id}>
          <button type="button" aria-pressed={run.id === props.chosen} onClick={() => props.choose(run.id)}>
            <RunStateBadge state={run.state} stale={run.stale} />
            <span class="when" title={formatTime(run.startedAt ?? run.createdAt)}>
              {formatAge(run.startedAt ?? run.createdAt, now)}
            </span>
            <span class="took">{formatDuration(to - from)}</span>
            <span class="track" aria-hidden="true">
              <span
                class={`bar ${stateOf(run.state, run.stale)}`}
                style={{
                  left: `${((from - first) / duration) * 100}%`,
                  width: `${Math.max(1.5, ((to - from) / duration) * 100)}%`,
                }}
              />
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}

// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import { CAUSE_PERIODS, type CauseChange, type CauseResponse, causeSince, causeSubject, type TypedNode } from "../model/cause";
import { columnId } from "../model/ids";
import { displayText } from "../model/names";
import { graph, navigate, nodeIndexById, route } from "../state/store";
import { NodeLink, Notice, Section } from "./components";
import { DatasetPicker } from "./DatasetPicker";
import { DistanceSelect, useDistance } from "./DistanceSelect";
import { formatAge, formatTime } from "./format";
import { useResource } from "./useResource";

/** Why a dataset or column changed: what changed upstream of it in a period, best explanation first. */
export function CauseView() {
  const { node, field, from, at: until } = route.value;
  const subject = causeSubject(graph.value, nodeIndexById.value.get(node) ?? -1);
  const known = subject < 0 ? undefined : graph.value.nodes[subject];
  // Fixed while the view is open: a request for each event of a busy graph would be of no use.
  const begin = useMemo(() => from || causeSince(null, Date.now()), [node, from]);
  const id = known && (known.id === node && field !== "" ? columnId(known, field) : known.id);
  const values = new URLSearchParams({ nodeId: id ?? "", since: begin, ...(until === "" ? {} : { until }) });
  const distance = useDistance(id ?? "");
  const found = useResource<CauseResponse>(known ? `/api/v1/cause?${values}${distance.parameter}` : null, null);
  if (!known) return <DatasetPicker title="Why did what change?" linkTo={(id, column) => ({ node: id, field: column })} />;
  const name = field === "" || known.id !== node ? displayText(known.name) : `${displayText(field)} of ${displayText(known.name)}`;
  return (
    <div class="list">
      <div class="toolbar">
        <NodeLink kind="dataset" node={known} engine={known.engine} />
        <PeriodSelect from={from} />
        <DistanceSelect distance={distance} status={found.status} />
      </div>
      <h2>Why did {name} change?</h2>
      {known.id !== node && <p class="faint">The selected job has no numbers of its own: this is about a dataset of it.</p>}
      {found.error && <p class="error">{displayText(found.error)}</p>}
      {found.value ? <Finding found={found.value} /> : !found.error && <p class="faint">Comparing events …</p>}
    </div>
  );
}

function PeriodSelect({ from }: { readonly from: string }) {
  const now = Date.now();
  const chosen = CAUSE_PERIODS.find(([, length]) => Math.abs(now - length - Date.parse(from)) < 60_000)?.[0];
  return (
    <label>
      Changes of the{" "}
      <select
        value={from === "" ? "last day" : (chosen ?? from)}
        onChange={({ currentTarget: { value } }) => {
          const length = CAUSE_PERIODS.find(([name]) => name === value)?.[1];
          if (length !== undefined) navigate({ from: new Date(Date.now() - length).toISOString() });
        }}
      >
        {from !== "" && !chosen && <option value={from}>time since {formatTime(from)}</option>}
        {CAUSE_PERIODS.map(([name]) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Finding({ found }: { readonly found: CauseResponse }) {
  const [likely, others] = [found.causes.slice(0, found.likely), found.causes.slice(found.likely)];
  return (
    <>
      <p class="faint">
        Compared: {found.events} events of upstream jobs, from {formatTime(found.since)} to {formatTime(found.until)} and one day
        before.
      </p>
      {likely.length === 0 ? (
        <Notice title="Nothing upstream explains it">
          <p>No schema, job, run, volume or quality check changed on its path: the data themselves changed.</p>
        </Notice>
      ) : (
        <ol class="causes" aria-label="Causes">
          {likely.map((cause, at) => (
            <li key={at}>
              <h3>
                {cause.kind} of <TypedNodeLink node={cause.node} />{" "}
                <small>{cause.distance === 0 ? "itself" : `${cause.distance} ${cause.distance === 1 ? "job" : "jobs"} upstream`}</small>
              </h3>
              <Change change={cause} />
              {cause.carried.length > 0 && (
                <p>
                  Passed on to{" "}
                  {cause.carried.map((node, index) => (
                    <>
                      {index > 0 && ", "}
                      <TypedNodeLink node={node} />
                    </>
                  ))}
                </p>
              )}
              {cause.explains.length > 0 && (
                <Section title={`Explains ${cause.explains.length} other ${cause.explains.length === 1 ? "change" : "changes"}`}>
                  <Changes found={cause.explains} />
                </Section>
              )}
            </li>
          ))}
        </ol>
      )}
      {others.length > 0 && (
        <Section title={`Also changed, without a path to it (${others.length})`} open={likely.length === 0}>
          <Changes found={others} />
        </Section>
      )}
    </>
  );
}

function Changes({ found }: { readonly found: readonly CauseChange[] }) {
  return (
    <ul class="plain">
      {found.map((change, at) => (
        <li key={at}>
          <TypedNodeLink node={change.node} />: {displayText(change.summary)}{" "}
          <small title={formatTime(change.at)}>{formatAge(change.at, Date.now())}</small>
        </li>
      ))}
    </ul>
  );
}

/** Summary of a change, its first evidence, and both values. */
function Change({ change }: { readonly change: CauseChange }) {
  return (
    <>
      <p>{displayText(change.summary)}</p>
      <p class="faint">
        <span title={formatTime(change.at)}>{formatAge(change.at, Date.now())}</span>
        {change.run === null ? " for " : `, first in run ${displayText(change.run)} of `}
        <NodeLink kind="job" node={change.job} />
      </p>
      {change.before !== null && change.after !== null && (
        <dl class="values">
          <dt>before</dt>
          <dd>
            <pre tabIndex={0}>{change.before}</pre>
          </dd>
          <dt>after</dt>
          <dd>
            <pre tabIndex={0}>{change.after}</pre>
          </dd>
        </dl>
      )}
    </>
  );
}

function TypedNodeLink({ node }: { readonly node: TypedNode }) {
  return <NodeLink kind={node.type === "JOB" ? "job" : "dataset"} node={node} />;
}

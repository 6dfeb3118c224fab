// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { alerts, type ContractReport, type LabAnswer, type StatsAnswer } from "../model/alerts";
import { type FlowAnswer, lag, type Series, throughput } from "../model/flow";
import { shown } from "../model/names";
import { graph, connection, stateNow } from "../state/store";
import { duration, number } from "./format";
import { Elsewhere, Link, Notice, Table } from "./components";
import { useResource } from "./useResource";

const EVERY = 3_000;

/** How the lab is: services, the flow of lineage, the contract, and what needs somebody. */
export function LabView() {
  const [round, setRound] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setRound((known) => known + 1), EVERY);
    return () => clearInterval(timer);
  }, []);
  const lab = useResource<LabAnswer>("/api/v1/lab", round);
  const stats = useResource<StatsAnswer>("/api/v1/stats", round);
  const flow = useResource<FlowAnswer>("/api/v1/flow", round);
  const contract = useResource<ContractReport>("/api/v1/contract", graph.value);
  const found = alerts(graph.value.nodes, stateNow, lab.value, stats.value, contract.value);
  return (
    <div class="lab">
      <Card title="Needs somebody">
        {found.length === 0 ? (
          <p class="ok">Nothing: no job has failed or is stale, every service answers, the lineage is whole.</p>
        ) : (
          <ul class="plain alerts">
            {found.map(({ level, text, node }) => (
              <li key={text} class={level}>
                {node ? <Link to={{ view: "graph", node, field: "" }}>{text}</Link> : text}
              </li>
            ))}
          </ul>
        )}
      </Card>
      <Card title="Lineage contract">
        <Contract found={contract.value} error={contract.error} />
      </Card>
      <Card title="Events per second">
        <Chart series={flow.value && throughput(flow.value)} error={flow.error} spoken={number} />
      </Card>
      <Card title="Lineage lag: from an event's time to the graph">
        <Chart series={flow.value && lag(flow.value)} error={flow.error} spoken={(value) => duration(value * 1000)} />
      </Card>
      <Card title="Services of this lab" wide>
        <Services found={lab.value} error={lab.error} />
      </Card>
      <Card title="Lineage service" wide>
        <Counts found={stats.value} />
      </Card>
    </div>
  );
}

function Card(props: { readonly title: string; readonly wide?: boolean; readonly children: ComponentChildren }) {
  return (
    <section class={props.wide ? "card wide" : "card"}>
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}

function Services({ found, error }: { readonly found: LabAnswer | null; readonly error: string | null }) {
  if (error) return <p class="error">{error}</p>;
  if (!found) return <p class="faint">Asking …</p>;
  if (found.services.length === 0) return <Notice title="This service runs outside a lab" />;
  const rows = found.services.map((service) => ({
    key: service.name,
    cells: [
      shown(service.title),
      <>
        <span class={`state ${service.state === "up" ? "running" : "failed"}`}>
          <span aria-hidden="true">{service.state === "up" ? "●" : "✕"}</span> {service.state}
        </span>{" "}
        <small>{shown(service.answer)}</small>
      </>,
      number(service.milliseconds),
      service.ui ? <Elsewhere url={service.ui} /> : <span class="faint">–</span>,
    ],
  }));
  return (
    <Table
      headings={[{ title: "service" }, { title: "state" }, { title: "ms", right: true }, { title: "its own page" }]}
      rows={rows}
    />
  );
}

function Contract({ found, error }: { readonly found: ContractReport | null; readonly error: string | null }) {
  if (error) return <p class="faint">{shown(error)}</p>;
  if (!found) return <p class="faint">Comparing …</p>;
  if (found.ok) return <p class="ok">✓ The lineage of {found.jobs.length} jobs is as the contract says.</p>;
  return (
    <details open>
      <summary class="warning">{found.findings.length} departures</summary>
      <ul class="plain findings">
        {found.findings.map((finding, at) => (
          <li key={at}>
            <strong>{finding.kind}</strong> {finding.subject} <bdi>{shown(finding.text)}</bdi>
            {finding.expected && ` expected ${shown(finding.expected)}`}
            {finding.found && ` found ${shown(finding.found)}`}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Counts({ found }: { readonly found: StatsAnswer | null }) {
  if (!found) return <p class="faint">Reading …</p>;
  const dead = Object.values(found.deadLetters).reduce((sum, count) => sum + count, 0);
  const refused = Object.values(found.refused).reduce((sum, count) => sum + count, 0);
  const rows: [string, number][] = [
    ["events in the log", found.logged],
    ["accepted since the start", found.accepted],
    ["of which known before", found.duplicates],
    ["refused", refused],
    ["dead letters", dead],
    ["pages that listen", found.listeners],
  ];
  return (
    <dl class="counts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{number(value)}</dd>
        </div>
      ))}
      <div>
        <dt>line to this page</dt>
        <dd>{connection.value}</dd>
      </div>
    </dl>
  );
}

const WIDTH = 360;
const HEIGHT = 70;

/** The last half hour as bars, as far as the service remembers it. */
function Chart(props: {
  readonly series: Series | null;
  readonly error: string | null;
  readonly spoken: (value: number) => string;
}) {
  if (props.error) return <p class="error">{props.error}</p>;
  if (!props.series) return <p class="faint">Reading …</p>;
  const { values, most, last, minutes } = props.series;
  const step = WIDTH / values.length;
  const bars = values.map((value, at) => {
    const height = most === 0 || value === null ? 0 : (value / most) * HEIGHT;
    return `M${(at * step).toFixed(1)} ${HEIGHT}v${(-height).toFixed(1)}h${(step * 0.8).toFixed(1)}v${height.toFixed(1)}z`;
  });
  const text =
    values.every((value) => value === null) && minutes === 0
      ? "the service has just started"
      : `latest ${last === null ? "none" : props.spoken(last)}, highest ${props.spoken(most)}, over ${minutes} min`;
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={text} preserveAspectRatio="none">
        <path d={bars.join("")} />
      </svg>
      <figcaption>{text}</figcaption>
    </figure>
  );
}

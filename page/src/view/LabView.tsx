// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ContractReport, LabResponse, SchemaBreaksResponse, StatsResponse } from "../model/alerts";
import { type FlowResponse, lagSeries, type ChartSeries, throughputSeries } from "../model/flow";
import { displayText } from "../model/names";
import { graph, connection } from "../state/store";
import { formatDuration, formatNumber } from "./format";
import { AlertList } from "./AlertList";
import { ExternalLink, Notice, Table, Unavailable } from "./components";
import { useResource } from "./useResource";

const REFRESH_MS = 3_000;

/** Health of the lab: alerts, contract, event rate and lag, services. */
export function LabView() {
  const [round, setRound] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setRound((known) => known + 1), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const lab = useResource<LabResponse>("/api/v1/lab", round);
  const stats = useResource<StatsResponse>("/api/v1/stats", round);
  const flow = useResource<FlowResponse>("/api/v1/flow", round);
  const contract = useResource<ContractReport>("/api/v1/contract", graph.value);
  const schemas = useResource<SchemaBreaksResponse>("/api/v1/schema-breaks", graph.value);
  return (
    <div class="lab">
      <Card title="Alerts">
        <AlertList lab={lab} stats={stats} contract={contract} schemas={schemas} />
      </Card>
      <Card title="Lineage contract">
        <Contract found={contract.value} error={contract.error} />
      </Card>
      <Card title="Events per second">
        <Chart series={flow.value && throughputSeries(flow.value)} error={flow.error} format={formatNumber} />
      </Card>
      <Card title="Lineage lag (from event time to graph)">
        <Chart series={flow.value && lagSeries(flow.value)} error={flow.error} format={(value) => formatDuration(value * 1000)} />
      </Card>
      <Card title="Services" wide>
        {lab.value ? <Services found={lab.value} /> : <Unavailable error={lab.error} />}
      </Card>
      <Card title="Lineage service" wide>
        {stats.value ? <Counts found={stats.value} /> : <Unavailable error={stats.error} />}
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

function Services({ found }: { readonly found: LabResponse }) {
  if (found.services.length === 0) return <Notice title="The lineage service runs outside a lab" />;
  const rows = found.services.map((service) => ({
    key: service.name,
    cells: [
      displayText(service.title),
      <>
        <span class={`state ${service.state === "up" ? "running" : "failed"}`}>
          <span aria-hidden="true">{service.state === "up" ? "●" : "✕"}</span> {service.state}
        </span>{" "}
        <small>{displayText(service.answer)}</small>
      </>,
      formatNumber(service.milliseconds),
      service.ui ? <ExternalLink url={service.ui} /> : <span class="faint">–</span>,
    ],
  }));
  return (
    <Table
      headings={[{ title: "service" }, { title: "state" }, { title: "response (ms)", right: true }, { title: "UI" }]}
      rows={rows}
    />
  );
}

function Contract({ found, error }: { readonly found: ContractReport | null; readonly error: string | null }) {
  if (error) return <p class="faint">{displayText(error)}</p>;
  if (!found) return <p class="faint">Comparing …</p>;
  const unlisted = found.unlisted.length;
  return (
    <>
      {found.ok ? (
        <p class="ok">
          ✓ The lineage of {found.jobs.length} jobs
          {found.datasets.length > 0 && `, and ${found.datasets.length} datasets,`} match the contract.
        </p>
      ) : (
        <details open>
          <summary class="warning">{found.findings.length} differences from the contract</summary>
          <Findings found={found.findings} />
        </details>
      )}
      {unlisted > 0 && (
        <details>
          <summary class="faint">
            {unlisted} {unlisted === 1 ? "job" : "jobs"} that the contract does not list
          </summary>
          <Findings found={found.unlisted} />
        </details>
      )}
    </>
  );
}

function Findings({ found }: { readonly found: ContractReport["findings"] }) {
  return (
    <ul class="plain findings">
      {found.map((finding, at) => (
        <li key={at}>
          <strong>{finding.kind}</strong> {finding.subject} <bdi>{displayText(finding.text)}</bdi>
          {finding.expected && ` expected ${displayText(finding.expected)}`}
          {finding.found && ` found ${displayText(finding.found)}`}
        </li>
      ))}
    </ul>
  );
}

function Counts({ found }: { readonly found: StatsResponse }) {
  const dead = Object.values(found.deadLetters).reduce((sum, count) => sum + count, 0);
  const refused = Object.values(found.refused).reduce((sum, count) => sum + count, 0);
  const rows: [string, number][] = [
    ["events in the log", found.logged],
    ["accepted since service start", found.accepted],
    ["duplicates among them", found.duplicates],
    ["rejected", refused],
    ["dead letters", dead],
    ["connected pages", found.listeners],
  ];
  return (
    <dl class="counts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{formatNumber(value)}</dd>
        </div>
      ))}
      <div>
        <dt>event stream of this page</dt>
        <dd>{connection.value}</dd>
      </div>
    </dl>
  );
}

const WIDTH = 360;
const HEIGHT = 70;

/** Bar chart of the last half hour, or since the service started. */
function Chart(props: {
  readonly series: ChartSeries | null;
  readonly error: string | null;
  readonly format: (value: number) => string;
}) {
  if (!props.series) return <Unavailable error={props.error} />;
  const { values, max, last, minutes } = props.series;
  const step = WIDTH / values.length;
  const bars = values.map((value, at) => {
    const height = max === 0 || value === null ? 0 : (value / max) * HEIGHT;
    return `M${(at * step).toFixed(1)} ${HEIGHT}v${(-height).toFixed(1)}h${(step * 0.8).toFixed(1)}v${height.toFixed(1)}z`;
  });
  const caption =
    values.every((value) => value === null) && minutes === 0
      ? "No data yet: the service has just started"
      : `latest ${last === null ? "none" : props.format(last)}, highest ${props.format(max)}, over ${minutes} min`;
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={caption} preserveAspectRatio="none">
        <path d={bars.join("")} />
      </svg>
      <figcaption>{caption}</figcaption>
    </figure>
  );
}

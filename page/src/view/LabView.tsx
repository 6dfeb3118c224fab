// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { alerts, type ContractReport, type LabAnswer, type StatsAnswer } from "../model/alerts";
import { shown } from "../model/names";
import { eventsPerSecond, graph, lagSeconds, line, stateNow } from "../state/store";
import type { Series } from "../state/series";
import { number } from "./format";
import { Elsewhere, Link, Notice } from "./parts";
import { useResource } from "./resource";

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
        <Chart series={eventsPerSecond.value} unit="events" />
      </Card>
      <Card title="Lineage lag: from an event's time to this page">
        <Chart series={lagSeconds.value} unit="s" />
      </Card>
      <Card title={lab.value?.name ? `Services of ${shown(lab.value.name)}` : "Services"} wide>
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
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">service</th>
          <th scope="col">state</th>
          <th scope="col" class="right">
            ms
          </th>
          <th scope="col">its own page</th>
        </tr>
      </thead>
      <tbody>
        {found.services.map((service) => (
          <tr key={service.name}>
            <td>{shown(service.title)}</td>
            <td>
              <span class={`state ${service.state === "up" ? "running" : "failed"}`}>
                <span aria-hidden="true">{service.state === "up" ? "●" : "✕"}</span> {service.state}
              </span>{" "}
              <small>{shown(service.answer)}</small>
            </td>
            <td class="right">{number(service.milliseconds)}</td>
            <td>{service.ui ? <Elsewhere url={service.ui} /> : <span class="faint">–</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
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
        <dd>{line.value}</dd>
      </div>
    </dl>
  );
}

const WIDTH = 360;
const HEIGHT = 70;

/** The last two minutes as bars. */
function Chart({ series, unit }: { readonly series: Series; readonly unit: string }) {
  const most = Math.max(...series.values);
  const last = series.values[series.values.length - 2];
  const step = WIDTH / series.values.length;
  const bars = series.values.map((value, at) => {
    const height = most === 0 ? 0 : (value / most) * HEIGHT;
    return `M${(at * step).toFixed(1)} ${HEIGHT}v${(-height).toFixed(1)}h${(step * 0.8).toFixed(1)}v${height.toFixed(1)}z`;
  });
  const text = `${number(last)} ${unit} a second ago, at most ${number(most)} in the last two minutes`;
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={text} preserveAspectRatio="none">
        <path d={bars.join("")} />
      </svg>
      <figcaption>{text}</figcaption>
    </figure>
  );
}

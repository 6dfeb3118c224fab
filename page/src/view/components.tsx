// SPDX-License-Identifier: Apache-2.0
/** Components that several views share. */
import type { ComponentChildren } from "preact";
import type { Engine } from "../model/engines";
import type { QualifiedName } from "../model/apiTypes";
import { stateOf, type State } from "../model/graph";
import { type NodeKind, nodeId } from "../model/ids";
import { displayText } from "../model/names";
import { focusOn, navigate, href } from "../state/store";
import type { Route } from "../state/route";
import { ICONS } from "./icons";

export function Icon({ name, size = 18 }: { readonly name: keyof typeof ICONS; readonly size?: number }) {
  return (
    <svg class={`icon engine-${name}`} viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

const STATE_SIGN: Readonly<Record<State, string>> = {
  running: "●",
  stale: "◷",
  failed: "✕",
  aborted: "■",
  completed: "✓",
  new: "○",
  none: "○",
};

export function StateBadge({ state }: { readonly state: State }) {
  return (
    <span class={`state ${state}`}>
      <span aria-hidden="true">{STATE_SIGN[state]}</span> {state === "none" ? "no run" : state}
    </span>
  );
}

/** Badge for a run state in the spelling of Marquez's API. */
export function RunStateBadge({ state, stale = false }: { readonly state: string; readonly stale?: boolean }) {
  return <StateBadge state={stateOf(state, stale)} />;
}

/** A link to another route. It works like any link: it can be copied and opened in a new tab. */
export function Link(props: {
  readonly to: Partial<Route>;
  readonly class?: string;
  readonly current?: boolean;
  readonly children: ComponentChildren;
}) {
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigate(props.to);
  };
  return (
    <a
      href={href(props.to)}
      onClick={follow}
      class={props.class ?? ""}
      aria-current={props.current ? "page" : undefined}
    >
      {props.children}
    </a>
  );
}

export function NodeLink({
  kind,
  node,
  engine,
}: {
  readonly kind: NodeKind;
  readonly node: QualifiedName;
  readonly engine?: Engine;
}) {
  return (
    <Link to={focusOn(nodeId(kind, node))} class="node">
      {engine && <Icon name={engine} size={16} />}
      <bdi>{displayText(node.name)}</bdi>
    </Link>
  );
}

/** Stands in place of a value: the error of its request, or a note that it is loading. */
export function Unavailable({ error }: { readonly error: string | null }) {
  return error === null ? <p class="faint">Loading …</p> : <p class="error">{displayText(error)}</p>;
}

/** A message in place of an empty view. */
export function Notice({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="notice" role="status">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A column heading; `right` for right-aligned numbers. */
export interface TableHeading {
  readonly title: string;
  readonly right?: boolean;
}

export interface TableRow {
  readonly key: string;
  readonly cells: readonly ComponentChildren[];
}

/** A table. Each row has one cell per heading. */
export function Table(props: { readonly headings: readonly TableHeading[]; readonly rows: readonly TableRow[] }) {
  const side = (at: number) => (props.headings[at].right ? "right" : undefined);
  return (
    <table>
      <thead>
        <tr>
          {props.headings.map(({ title }, at) => (
            <th key={title} scope="col" class={side(at)}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map(({ key, cells }) => (
          <tr key={key}>
            {cells.map((cell, at) => (
              <td key={at} class={side(at)}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Section(props: {
  readonly title: string;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <details class="section" open={props.open ?? true}>
      <summary>{props.title}</summary>
      {props.children}
    </details>
  );
}

/** A link to another site. URLs other than http and https are shown as text. */
export function ExternalLink({ url }: { readonly url: string }) {
  return /^https?:\/\//i.test(url) ? (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {displayText(url)}
    </a>
  ) : (
    <>{displayText(url)}</>
  );
}

// SPDX-License-Identifier: Apache-2.0
import type { Pair } from "./apiTypes";

export type Kind = "job" | "dataset";

/** A node's id as the service's `nodeId` spells it: `dataset:{namespace}:{name}`. */
export function nodeId(kind: Kind, { namespace, name }: Pair): string {
  return `${kind}:${namespace}:${name}`;
}

/** A column's id, as the service's `nodeId` spells it. */
export function columnId({ namespace, name }: Pair, field: string): string {
  return `datasetField:${namespace}:${name}:${field}`;
}

/** The path of a job or dataset in the service's API. */
export function apiPath(kind: Kind, { namespace, name }: Pair): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/${kind}s/${encodeURIComponent(name)}`;
}

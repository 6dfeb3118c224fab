// SPDX-License-Identifier: Apache-2.0
import type { QualifiedName } from "./apiTypes";

export type NodeKind = "job" | "dataset";

/** Node id, in the format of the API's `nodeId`: `dataset:{namespace}:{name}`. */
export function nodeId(kind: NodeKind, { namespace, name }: QualifiedName): string {
  return `${kind}:${namespace}:${name}`;
}

/** Column id, in the format of the API's `nodeId`. */
export function columnId({ namespace, name }: QualifiedName, field: string): string {
  return `datasetField:${namespace}:${name}:${field}`;
}

/** API path of a job or dataset. */
export function apiPath(kind: NodeKind, { namespace, name }: QualifiedName): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/${kind}s/${encodeURIComponent(name)}`;
}

// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from "preact/hooks";
import { fetchJson, RequestError } from "../api";
import { ResourceRequests } from "../state/resourceRequests";

export interface Resource<Value> {
  readonly value: Value | null;
  readonly error: string | null;
  /** HTTP status of the error; null without one. */
  readonly status: number | null;
}

/**
 * Fetch a path of the API. The value is null until the response arrives.
 *
 * A new `version` fetches again, after a request that is under way, and keeps the old value meanwhile; a new path discards it.
 */
export function useResource<Value>(path: string | null, version: unknown): Resource<Value> {
  const [resource, setResource] = useState<Resource<Value> & { readonly path: string | null }>({
    path,
    value: null,
    error: null,
    status: null,
  });
  const requests = useMemo(
    () =>
      new ResourceRequests<unknown>(fetchJson, (path, outcome) => {
        if ("value" in outcome) return setResource({ path, value: outcome.value as Value, error: null, status: null });
        const { error } = outcome;
        setResource({ path, value: null, error: error.message, status: error instanceof RequestError ? error.status : -1 });
      }),
    [],
  );
  useEffect(() => requests.request(path), [path, version]);
  useEffect(() => () => requests.request(null), []);
  return resource.path === path ? resource : { value: null, error: null, status: null };
}

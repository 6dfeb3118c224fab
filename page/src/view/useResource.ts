// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { fetchJson, RequestError } from "../api";

export interface Resource<Value> {
  readonly value: Value | null;
  readonly error: string | null;
  /** HTTP status of the error; null without one. */
  readonly status: number | null;
}

/**
 * Fetch a path of the API. The value is null until the response arrives.
 *
 * A new `version` fetches again and keeps the old value meanwhile; a new path discards it.
 */
export function useResource<Value>(path: string | null, version: unknown): Resource<Value> {
  const [resource, setResource] = useState<Resource<Value> & { readonly path: string | null }>({
    path,
    value: null,
    error: null,
    status: null,
  });
  useEffect(() => {
    if (path === null) return;
    let current = true;
    fetchJson(path).then(
      (value) => current && setResource({ path, value: value as Value, error: null, status: null }),
      (error: Error) =>
        current &&
        setResource({ path, value: null, error: error.message, status: error instanceof RequestError ? error.status : -1 }),
    );
    return () => {
      current = false;
    };
  }, [path, version]);
  return resource.path === path ? resource : { value: null, error: null, status: null };
}

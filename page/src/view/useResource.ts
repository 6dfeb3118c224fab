// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { readJson } from "../api";

export interface Resource<Value> {
  readonly value: Value | null;
  readonly error: string | null;
}

/**
 * What the service answers to a path; null while it is not there. Read again when `version` changes, and until then
 * the old answer stays; another path begins anew.
 */
export function useResource<Value>(path: string | null, version: unknown): Resource<Value> {
  const [found, setFound] = useState<Resource<Value> & { readonly path: string | null }>({
    path,
    value: null,
    error: null,
  });
  useEffect(() => {
    if (path === null) return;
    let wanted = true;
    readJson(path).then(
      (value) => wanted && setFound({ path, value: value as Value, error: null }),
      (error: Error) => wanted && setFound({ path, value: null, error: error.message }),
    );
    return () => {
      wanted = false;
    };
  }, [path, version]);
  return found.path === path ? found : { value: null, error: null };
}

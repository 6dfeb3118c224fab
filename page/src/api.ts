// SPDX-License-Identifier: Apache-2.0

/** A request that failed or that the service rejected. */
export class RequestError extends Error {
  constructor(
    message: string,
    /** HTTP status; 0 without a response, -1 if the page's web worker failed. */
    readonly status: number,
  ) {
    super(message);
  }
}

/** Status of a request that was not sent because its response would be too large. */
export const TOO_LARGE = 413;

let apiKey = "";

/** Set the key that requests of this thread carry; empty for none. */
export function setRequestKey(key: string): void {
  apiKey = key;
}

/** Headers of a request with a key; without one, none. */
export function authorization(key: string): Record<string, string> {
  return key === "" ? {} : { Authorization: `Bearer ${key}` };
}

/** Fetch JSON from the service that serves the page. Throws RequestError. */
export async function fetchJson(path: string): Promise<unknown> {
  return (await request(path)).json();
}

/** A value that was read, and its version, which changes with it. */
export interface Versioned<Value> {
  readonly value: Value;
  readonly version: string;
}

/** Fetch JSON whose response has an `ETag`. Throws RequestError. */
export async function fetchVersioned<Value>(path: string): Promise<Versioned<Value>> {
  const response = await request(path);
  return { value: (await response.json()) as Value, version: response.headers.get("etag") ?? "" };
}

/** Replace what a path names, with a key. `version` is that of the replaced value; 412 if somebody else has replaced it. Throws RequestError. */
export async function replace(path: string, content: unknown, key: string, version: string): Promise<void> {
  const headers = { "Content-Type": "application/json", "If-Match": version, ...authorization(key) };
  await request(path, { method: "PUT", body: JSON.stringify(content), headers });
}

async function request(path: string, options: { method?: string; body?: string; headers?: Record<string, string> } = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...options, headers: { Accept: "application/json", ...authorization(apiKey), ...options.headers } });
  } catch {
    throw new RequestError("the lineage service did not respond", 0);
  }
  if (response.ok) return response;
  const body = (await response.json().catch(() => null)) as { error?: { message?: string } } | null;
  throw new RequestError(
    body?.error?.message ?? `the lineage service responded with status ${response.status}`,
    response.status,
  );
}

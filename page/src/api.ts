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
  let response: Response;
  try {
    response = await fetch(path, { headers: { Accept: "application/json", ...authorization(apiKey) } });
  } catch {
    throw new RequestError("the lineage service did not respond", 0);
  }
  if (response.ok) return response.json();
  const body = (await response.json().catch(() => null)) as { error?: { message?: string } } | null;
  throw new RequestError(
    body?.error?.message ?? `the lineage service responded with status ${response.status}`,
    response.status,
  );
}

// SPDX-License-Identifier: Apache-2.0
import { ReadError } from "./worker/errors";

/** JSON of the service that the page came from. */
export async function readJson(path: string): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, { headers: { Accept: "application/json" } });
  } catch {
    throw new ReadError("the lineage service does not answer", 0);
  }
  if (response.ok) return response.json();
  const said = (await response.json().catch(() => null)) as { error?: { message?: string } } | null;
  throw new ReadError(said?.error?.message ?? `the lineage service answered ${response.status}`, response.status);
}

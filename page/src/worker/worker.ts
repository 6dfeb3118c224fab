// SPDX-License-Identifier: Apache-2.0
/** Entry point of the web worker: runs a GraphWorker and answers the requests of its client. */
import { fetchJson, RequestError, setRequestKey } from "../api";
import type { WorkerRequest, WorkerResponse } from "./client";
import { GraphWorker } from "./graphWorker";

const graphWorker = new GraphWorker(fetchJson);

async function handle({ id, method, parameters }: WorkerRequest): Promise<WorkerResponse> {
  try {
    const call = graphWorker[method] as (...parameters: unknown[]) => unknown;
    return { id, result: await call.apply(graphWorker, [...parameters]) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { id, error: message, status: error instanceof RequestError ? error.status : -1 };
  }
}

self.onmessage = async ({ data }: MessageEvent<WorkerRequest | { readonly key: string }>) => {
  if ("key" in data) setRequestKey(data.key);
  else self.postMessage(await handle(data));
};

// SPDX-License-Identifier: Apache-2.0
import { RequestError } from "../api";
import type { GraphWorker } from "./graphWorker";

type Methods = Pick<
  GraphWorker,
  "load" | "nodes" | "changesOf" | "search" | "loadColumns" | "columnPath" | "columnsOf" | "carriedTags" | "layoutGraph" | "runTrees"
>;

export interface WorkerRequest {
  readonly id: number;
  readonly method: keyof Methods;
  readonly parameters: readonly unknown[];
}

export type WorkerResponse =
  | { readonly id: number; readonly result: unknown; readonly error?: never }
  | { readonly id: number; readonly error: string; readonly status: number };

/** Calls the methods of a GraphWorker that runs in a web worker. */
export class GraphWorkerClient {
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private readonly pending = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  private lastId = 0;

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<WorkerResponse>) => this.settle(data);
    this.worker.onerror = () => {
      for (const id of this.pending.keys()) {
        this.settle({ id, error: "the page's web worker failed to start; reload the page", status: -1 });
      }
    };
  }

  call<Method extends keyof Methods>(
    method: Method,
    ...parameters: Parameters<Methods[Method]>
  ): Promise<Awaited<ReturnType<Methods[Method]>>> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.worker.postMessage({ id, method, parameters } satisfies WorkerRequest);
    });
  }

  /** Set the key of all later requests. */
  setKey(key: string): void {
    this.worker.postMessage({ key });
  }

  private settle(response: WorkerResponse): void {
    const call = this.pending.get(response.id);
    this.pending.delete(response.id);
    if (response.error !== undefined) call?.reject(new RequestError(response.error, response.status));
    else call?.resolve(response.result as never);
  }
}

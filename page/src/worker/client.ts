// SPDX-License-Identifier: Apache-2.0
import type { Engine } from "./graphWorker";
import { ReadError } from "./errors";

type Methods = Pick<Engine, "load" | "nodes" | "changesOf" | "search" | "readColumns" | "columnPath" | "layOut">;

export interface Question {
  readonly id: number;
  readonly method: keyof Methods;
  readonly parameters: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly result: unknown; readonly error?: never }
  | { readonly id: number; readonly error: string; readonly status: number };

/** The engine in its worker: the same methods, answered later. */
export class EngineClient {
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private readonly waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  private asked = 0;

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.settle(data);
    this.worker.onerror = () => {
      for (const id of this.waiting.keys()) {
        this.settle({ id, error: "the page's worker did not start; reload the page", status: -1 });
      }
    };
  }

  ask<Method extends keyof Methods>(
    method: Method,
    ...parameters: Parameters<Methods[Method]>
  ): Promise<Awaited<ReturnType<Methods[Method]>>> {
    const id = ++this.asked;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, method, parameters } satisfies Question);
    });
  }

  private settle(answer: Answer): void {
    const asker = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (answer.error !== undefined) asker?.reject(new ReadError(answer.error, answer.status));
    else asker?.resolve(answer.result as never);
  }
}

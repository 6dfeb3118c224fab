// SPDX-License-Identifier: Apache-2.0
import { readJson } from "../api";
import type { Answer, Question } from "./client";
import { Engine } from "./graphWorker";
import { ReadError } from "./errors";

const engine = new Engine(readJson);

async function answer({ id, method, parameters }: Question): Promise<Answer> {
  try {
    const call = engine[method] as (...words: unknown[]) => unknown;
    return { id, result: await call.apply(engine, [...parameters]) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { id, error: message, status: error instanceof ReadError ? error.status : -1 };
  }
}

self.onmessage = async (event: MessageEvent<Question>) => self.postMessage(await answer(event.data));

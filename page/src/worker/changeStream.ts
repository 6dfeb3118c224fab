// SPDX-License-Identifier: Apache-2.0
import { authorization } from "../api";

export interface StreamMessage {
  readonly event: string;
  readonly data: string;
}

/** State of the stream, a message of it, or the key that another tab has sent. */
export interface StreamUpdate {
  readonly state?: "connecting" | "live" | "down";
  readonly message?: StreamMessage;
  readonly key?: string;
}

const PATH = "/api/v1/changes";
const RETRY_MS = 2_000;
const MAX_RETRY_MS = 15_000;

/**
 * Messages of server-sent events in the text of a stream, which may be cut anywhere: the complete ones, and the rest.
 * Only what the service sends is supported: `event` and one line of `data`.
 */
export function parseMessages(text: string): { readonly messages: StreamMessage[]; readonly rest: string } {
  const parts = text.split("\n\n");
  const rest = parts.pop() ?? "";
  const messages: StreamMessage[] = [];
  for (const part of parts) {
    const event = /^event: (.*)$/m.exec(part)?.[1];
    const data = /^data: (.*)$/m.exec(part)?.[1];
    if (event !== undefined && data !== undefined) messages.push({ event, data });
  }
  return { messages, rest };
}

/** The service's stream of changes, reconnected when it ends. `fetch`, because EventSource cannot send a key. */
export class ChangeStream {
  private key = "";
  private connection: AbortController | null = null;
  private retryMs = RETRY_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly report: (update: StreamUpdate) => void,
    private readonly request: typeof fetch = (...parameters) => fetch(...parameters),
  ) {}

  /** Connect, with a key unless it is empty; a stream with another key is ended. */
  connect(key: string): void {
    if (this.connection !== null && key === this.key) return;
    this.key = key;
    this.retryMs = RETRY_MS;
    clearTimeout(this.timer);
    this.connection?.abort();
    void this.run((this.connection = new AbortController()));
  }

  private async run(connection: AbortController): Promise<void> {
    this.report({ state: "connecting" });
    try {
      await this.read(connection.signal);
    } catch {
      // The service is away, or the key was replaced. The state says so, and the next attempt follows.
    }
    if (connection.signal.aborted) return;
    this.report({ state: "down" });
    this.timer = setTimeout(() => void this.run(connection), this.retryMs);
    this.retryMs = Math.min(2 * this.retryMs, MAX_RETRY_MS);
  }

  private async read(signal: AbortSignal): Promise<void> {
    const response = await this.request(PATH, { headers: authorization(this.key), cache: "no-store", signal });
    if (!response.ok || response.body === null) return;
    this.retryMs = RETRY_MS;
    this.report({ state: "live" });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const { messages, rest } = parseMessages(text + part.value);
      text = rest;
      for (const message of messages) this.report({ message });
    }
  }
}

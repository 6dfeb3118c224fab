// SPDX-License-Identifier: Apache-2.0
import { ChangeStream, type StreamUpdate } from "./changeStream";

/** The stream of changes of a tab: that of the shared worker, or its own where the browser has none. */
export class ChangeStreamClient {
  private key = "";
  private connect: ((key: string) => void) | null = null;

  /** Open the stream. */
  start(receive: (update: StreamUpdate) => void): void {
    this.connect = "SharedWorker" in globalThis ? this.shared(receive) : this.own(receive);
    this.connect(this.key);
  }

  /** Use another key, also of a stream that is open. */
  setKey(key: string): void {
    if (key === this.key) return;
    this.key = key;
    this.connect?.(key);
  }

  private own(receive: (update: StreamUpdate) => void): (key: string) => void {
    const stream = new ChangeStream(receive);
    return (key) => stream.connect(key);
  }

  private shared(receive: (update: StreamUpdate) => void): (key: string) => void {
    const { port } = new SharedWorker(new URL("./sharedChanges.ts", import.meta.url), { type: "module", name: "lineage" });
    port.onmessage = ({ data }: MessageEvent<StreamUpdate>) => receive(data);
    addEventListener("pagehide", () => port.postMessage("closed"));
    addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
    return (key) => port.postMessage({ key });
  }
}

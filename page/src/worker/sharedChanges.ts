// SPDX-License-Identifier: Apache-2.0
/**
 * Entry point of the shared worker: one stream of changes for all tabs of the page.
 *
 * Browsers open six connections to a host over HTTP/1.1: with a stream per tab, the seventh tab could load nothing.
 */
import { ChangeStream, type StreamUpdate } from "./changeStream";

const ports = new Set<MessagePort>();
let state: StreamUpdate = { state: "connecting" };
let key = "";

const stream = new ChangeStream((update) => {
  if (update.state) state = update;
  for (const port of ports) port.postMessage(update);
});

self.addEventListener("connect", (event) => {
  const port = (event as MessageEvent).ports[0];
  ports.add(port);
  port.onmessage = ({ data }: MessageEvent<{ readonly key: string } | "closed">) => {
    if (data === "closed") {
      ports.delete(port);
      return;
    }
    if (data.key !== "") key = data.key;
    else if (key !== "") port.postMessage({ key } satisfies StreamUpdate);
    stream.connect(key);
    port.postMessage(state);
    // This tab may have loaded its graph before the stream was open.
    port.postMessage({ message: { event: "resync", data: "{}" } } satisfies StreamUpdate);
  };
});

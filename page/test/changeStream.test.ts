// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ChangeStream, parseMessages, type StreamUpdate } from "../src/worker/changeStream";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("messages are parsed wherever the text is cut", () => {
  const text = "event: resync\ndata: {}\n\n: alive\n\nevent: event\ndata: {\"a\": 1}\n\n";
  for (let cut = 0; cut <= text.length; cut++) {
    const first = parseMessages(text.slice(0, cut));
    const second = parseMessages(first.rest + text.slice(cut));
    expect([...first.messages, ...second.messages]).toEqual([
      { event: "resync", data: "{}" },
      { event: "event", data: '{"a": 1}' },
    ]);
  }
});

test("a stream reports messages, reconnects when it ends, and uses the last key", async () => {
  const updates: StreamUpdate[] = [];
  const keys: (string | null)[] = [];
  const request = async (_: unknown, init?: RequestInit) => {
    const key = new Headers(init?.headers).get("Authorization");
    keys.push(key);
    return key === "Bearer b" ? new Response("event: resync\ndata: {}\n\n") : new Response(null, { status: 401 });
  };
  const stream = new ChangeStream((update) => updates.push(update), request as typeof fetch);
  stream.connect("");
  await vi.advanceTimersByTimeAsync(2_500);
  expect(keys).toEqual([null, null]);
  stream.connect("b");
  await vi.advanceTimersByTimeAsync(100);
  expect(updates.slice(-4)).toEqual([
    { state: "connecting" },
    { state: "live" },
    { message: { event: "resync", data: "{}" } },
    { state: "down" },
  ]);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(keys.slice(2)).toEqual(["Bearer b", "Bearer b"]);
});

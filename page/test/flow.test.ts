// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { type FlowAnswer, lag, throughput } from "../src/model/flow";

const sample = (events: number, lagSeconds: number | null) => ({ start: "", events, lagSeconds });
const FLOW: FlowAnswer = {
  stepSeconds: 10,
  mostSamples: 5,
  samples: [sample(20, 1.5), sample(0, null), sample(5, 0.2), sample(1, 9)],
};

test("charts end with the last whole step and begin where the service did", () => {
  expect(throughput(FLOW)).toEqual({ values: [null, 2, 0, 0.5], last: 0.5, most: 2, minutes: 1 });
  expect(lag(FLOW)).toEqual({ values: [null, 1.5, null, 0.2], last: 0.2, most: 1.5, minutes: 1 });
});

test("a service that has just started has nothing to tell", () => {
  const flow = { ...FLOW, samples: [sample(3, 1)] };
  expect(throughput(flow)).toEqual({ values: [null, null, null, null], last: null, most: 0, minutes: 0 });
});

// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { type FlowResponse, lagSeries, throughputSeries } from "../src/model/flow";

const sample = (events: number, lagSeconds: number | null) => ({ start: "", events, lagSeconds });
const FLOW: FlowResponse = {
  stepSeconds: 10,
  mostSamples: 5,
  samples: [sample(20, 1.5), sample(0, null), sample(5, 0.2), sample(1, 9)],
};

test("charts end with the last complete step and are padded before the service start", () => {
  expect(throughputSeries(FLOW)).toEqual({ values: [null, 2, 0, 0.5], last: 0.5, max: 2, minutes: 1 });
  expect(lagSeries(FLOW)).toEqual({ values: [null, 1.5, null, 0.2], last: 0.2, max: 1.5, minutes: 1 });
});

test("charts are empty right after the service started", () => {
  const flow = { ...FLOW, samples: [sample(3, 1)] };
  expect(throughputSeries(flow)).toEqual({ values: [null, null, null, null], last: null, max: 0, minutes: 0 });
});

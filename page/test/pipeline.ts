// SPDX-License-Identifier: Apache-2.0
import type { Digraph } from "../src/layout/digraph";

/** Pseudo-random numbers (mulberry32): every run tests the same graphs. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A generated lineage graph: jobs read a few earlier datasets, mostly recent ones, and write one or two new ones.
 *
 * @param reads mean number of inputs per job.
 */
export function pipeline(count: number, reads: number, seed = 7): Digraph {
  const next = random(seed);
  const from: number[] = [];
  const to: number[] = [];
  const datasets: number[] = [0, 1, 2];
  for (let node = 3; node < count; ) {
    const job = node++;
    const inputs = Math.max(1, Math.round(reads * 2 * next()));
    for (let index = 0; index < inputs; index++) {
      const back = Math.floor(next() ** 3 * Math.min(datasets.length, 200));
      from.push(datasets[datasets.length - 1 - back]);
      to.push(job);
    }
    for (let output = 0; output < (next() < 0.2 ? 2 : 1) && node < count; output++, node++) {
      from.push(job);
      to.push(node);
      datasets.push(node);
    }
    if (next() < 0.05 && node < count) datasets.push(node++);
  }
  return { count, from: Int32Array.from(from), to: Int32Array.from(to) };
}

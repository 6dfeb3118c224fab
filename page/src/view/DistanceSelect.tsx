// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { graph } from "../state/store";

/** Distances in jobs that can be chosen; 0 for all. */
const DISTANCES = [0, 1, 2, 3, 5, 10];

/** Distance of the first view of a graph of more than `LARGE` nodes: all that a hub reaches there takes a minute. */
const NEAR = 2;
const LARGE = 5_000;

/** Status of a response that would have too many nodes. */
const TOO_MANY = 422;

export interface Distance {
  /** Maximum distance in jobs; 0 for all. */
  readonly jobs: number;
  /** Query parameter of a request, with a leading `&`; empty for all. */
  readonly parameter: string;
  readonly choose: (jobs: number) => void;
}

/** The distance in jobs up to which lineage is shown, chosen again for each `subject`: node and direction. */
export function useDistance(subject: string): Distance {
  const initial = graph.value.nodes.length > LARGE ? NEAR : 0;
  const [chosen, setChosen] = useState({ subject, jobs: initial });
  const jobs = chosen.subject === subject ? chosen.jobs : initial;
  return { jobs, parameter: jobs === 0 ? "" : `&depth=${jobs}`, choose: (next) => setChosen({ subject, jobs: next }) };
}

/** Selects a distance. If `status` is that of too many nodes, it chooses a smaller one by itself. */
export function DistanceSelect({ distance, status }: { readonly distance: Distance; readonly status: number | null }) {
  const { jobs, choose } = distance;
  useEffect(() => {
    if (status === TOO_MANY && jobs !== 1) choose(jobs === 0 || jobs > NEAR ? NEAR : 1);
  }, [status, jobs]);
  return (
    <label>
      within{" "}
      <select value={jobs} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
        {DISTANCES.map((known) => (
          <option key={known} value={known}>
            {known === 0 ? "all jobs" : known === 1 ? "1 job" : `${known} jobs`}
          </option>
        ))}
      </select>
    </label>
  );
}

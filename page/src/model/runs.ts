// SPDX-License-Identifier: Apache-2.0

/** A run of a job in the responses of `/api/v1/namespaces/{namespace}/jobs/{job}/runs`. */
export interface Run {
  readonly id: string;
  readonly state: string;
  readonly stale: boolean;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly durationMs: number | null;
  readonly closedBecause: string | null;
  readonly facets: Readonly<Record<string, unknown>>;
}

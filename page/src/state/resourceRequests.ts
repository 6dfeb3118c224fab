// SPDX-License-Identifier: Apache-2.0

/**
 * Requests for a value that is fetched again whenever it may have changed, at most one at a time.
 *
 * A refresh during a request follows it: if each one discarded the request before it, a response that takes longer
 * than the time between two would never be shown, and the service would get requests faster than it answers them.
 */
export class ResourceRequests<Value> {
  private path: string | null = null;
  /** Number of the request that is under way; 0 for none. */
  private current = 0;
  private started = 0;
  private refresh = false;

  constructor(
    private readonly fetch: (path: string) => Promise<Value>,
    private readonly settle: (path: string, outcome: { readonly value: Value } | { readonly error: Error }) => void,
  ) {}

  /** Fetch a path, or again if it is fetched already. A response for another path is ignored; null fetches nothing. */
  request(path: string | null): void {
    if (path !== null && path === this.path && this.current > 0) {
      this.refresh = true;
      return;
    }
    this.path = path;
    this.refresh = false;
    this.current = path === null ? 0 : ++this.started;
    if (path !== null) void this.run(path, this.current);
  }

  private async run(path: string, number: number): Promise<void> {
    const outcome = await this.fetch(path).then(
      (value) => ({ value }),
      (error: Error) => ({ error }),
    );
    if (number !== this.current) return;
    this.current = 0;
    this.settle(path, outcome);
    if (this.refresh) this.request(path);
  }
}

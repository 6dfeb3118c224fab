// SPDX-License-Identifier: Apache-2.0
/** A read that the service refused, or that did not come through. */
export class ReadError extends Error {
  constructor(
    message: string,
    /** HTTP status; 0 where nothing answered. */
    readonly status: number,
  ) {
    super(message);
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The API key of a tab, in its session storage: gone when the tab is closed, and, other than a cookie, never sent to
 * the other services on the same host.
 */
const NAME = "lineage-key";

export function storedKey(): string {
  try {
    return sessionStorage.getItem(NAME) ?? "";
  } catch {
    return ""; // storage is disabled: the key lasts until the page is loaded again
  }
}

export function storeKey(key: string): void {
  try {
    sessionStorage.setItem(NAME, key);
  } catch {
    // See above.
  }
}

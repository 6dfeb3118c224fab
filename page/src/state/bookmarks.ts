// SPDX-License-Identifier: Apache-2.0
/** Favorite and recently viewed nodes, and acknowledged and muted alerts, in the local storage of the browser. */
import { computed, signal } from "@preact/signals";

const MAX_RECENT = 8;

/** Maximum number of stored entries of the other lists. */
const MAX_STORED = 500;

/** A list of texts that outlives the tab. Without a local storage it lasts until the page is loaded again. */
function storedList(name: string) {
  const key = `lineage-page.${name}`;
  const list = signal<readonly string[]>(load(key));
  const store = (texts: readonly string[]): void => {
    list.value = texts;
    try {
      localStorage.setItem(key, JSON.stringify(texts));
    } catch {
      // Storage is disabled or full: see above.
    }
  };
  return { list, store };
}

function load(key: string): readonly string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(found) ? found.filter((text): text is string => typeof text === "string") : [];
  } catch {
    return []; // storage is disabled, or another program wrote it
  }
}

const favoriteList = storedList("favorites");
const recentList = storedList("recent");
const acknowledgedList = storedList("acknowledged");
const mutedList = storedList("muted");

/** Ids of favorite nodes, in the order in which they were added. */
export const favorites = computed(() => favoriteList.list.value);

/** Ids of the last viewed nodes, newest first. */
export const recentNodes = computed(() => recentList.list.value);

/** Keys of alerts that were acknowledged: hidden until the same problem occurs again. */
export const acknowledged = computed(() => new Set(acknowledgedList.list.value));

/** Subjects whose alerts are hidden until they are no longer muted. */
export const muted = computed(() => new Set(mutedList.list.value));

export function rememberNode(id: string): void {
  const known = recentList.list.value;
  if (id !== "" && known[0] !== id) recentList.store([id, ...known.filter((other) => other !== id)].slice(0, MAX_RECENT));
}

export function toggleFavorite(id: string): void {
  toggle(favoriteList, id);
}

export function acknowledge(keys: readonly string[]): void {
  acknowledgedList.store([...new Set([...keys, ...acknowledgedList.list.value])].slice(0, MAX_STORED));
}

export function toggleMuted(subject: string): void {
  toggle(mutedList, subject);
}

function toggle({ list, store }: ReturnType<typeof storedList>, text: string): void {
  const known = list.value;
  store(known.includes(text) ? known.filter((other) => other !== text) : [...known, text].slice(-MAX_STORED));
}

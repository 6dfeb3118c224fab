// SPDX-License-Identifier: Apache-2.0

/** Characters after which a name is cut. */
const MAX_LENGTH = 400;
const MAX_LINES = 40;

/** Control characters, zero-width characters and overrides of the text direction. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Untrusted text (facets may hold any JSON value instead) made safe to display: invisible characters become U+FFFD, long text is cut. */
export function displayText(text: unknown): string {
  const name = typeof text === "string" ? text : (JSON.stringify(text) ?? "");
  const shortened = name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH)}…` : name;
  const clean = shortened.replace(INVISIBLE, "\ufffd");
  return clean.trim() === "" ? "(no name)" : clean;
}

/** Untrusted text of several lines made safe to display; each line as of `displayText`, at most `MAX_LINES`. */
export function displayLines(text: unknown): string {
  const lines = (typeof text === "string" ? text : displayText(text)).trim().split(/\r\n|[\n\r\u2028\u2029]/u);
  const shown = lines.slice(0, MAX_LINES).map((line) => (line.trim() === "" ? "" : displayText(line)));
  return [...shown, ...(lines.length > MAX_LINES ? ["…"] : [])].join("\n");
}

/** The last path segment of a dataset or job name. */
export function shortName(name: string): string {
  return displayText(name.replace(/\/+$/, "").split("/").at(-1) || name);
}

/** `text` cut in the middle so that its `width` is at most `limit`. Both ends of a name carry information. */
export function truncateMiddle(text: string, limit: number, width: (text: string) => number): string {
  if (width(text) <= limit) return text;
  const characters = [...text];
  let [fits, excess] = [0, characters.length];
  while (excess - fits > 1) {
    const middle = (fits + excess) >> 1;
    if (width(withoutMiddle(characters, middle)) <= limit) fits = middle;
    else excess = middle;
  }
  return withoutMiddle(characters, fits);
}

function withoutMiddle(characters: readonly string[], kept: number): string {
  const head = Math.ceil(kept / 2);
  return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (kept - head)).join("")}`;
}

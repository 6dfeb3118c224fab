// SPDX-License-Identifier: Apache-2.0

const LONGEST = 400;

/** Characters that change how the text around them is drawn: controls, and overrides of its direction. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** A name as it may be shown: what cannot be seen is made visible, and what has no end is cut. */
export function shown(name: string): string {
  const cut = name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name;
  const clean = cut.replace(UNSEEN, "\ufffd");
  return clean.trim() === "" ? "(no name)" : clean;
}

/** The last part of a dataset's or job's name, which tells it from its neighbours. */
export function shortName(name: string): string {
  return shown(name.replace(/\/+$/, "").split("/").at(-1) || name);
}

/** `text` cut in its middle so that `width` of it is at most `limit`: both ends of a name tell something. */
export function fitted(text: string, limit: number, width: (text: string) => number): string {
  if (width(text) <= limit) return text;
  const characters = [...text];
  let [fits, tooLong] = [0, characters.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (width(shortened(characters, middle)) <= limit) fits = middle;
    else tooLong = middle;
  }
  return shortened(characters, fits);
}

function shortened(characters: readonly string[], kept: number): string {
  const head = Math.ceil(kept / 2);
  return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (kept - head)).join("")}`;
}

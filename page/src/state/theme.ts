// SPDX-License-Identifier: Apache-2.0
import { effect, signal } from "@preact/signals";

export const CHOICES = ["auto", "light", "dark"] as const;
export type Darkness = (typeof CHOICES)[number];

const KEY = "lineage-page.darkness";

/** Light or dark as the user chose, or as the system does. */
export const darkness = signal<Darkness>(CHOICES.find((known) => known === localStorage.getItem(KEY)) ?? "auto");

effect(() => {
  if (darkness.value === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = darkness.value;
  localStorage.setItem(KEY, darkness.value);
});

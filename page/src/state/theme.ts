// SPDX-License-Identifier: Apache-2.0
import { computed, effect, signal } from "@preact/signals";

export const CHOICES = ["auto", "light", "dark"] as const;
export type Darkness = (typeof CHOICES)[number];

/** public/theme.js reads it too, before the first picture. */
const KEY = "lineage-page.darkness";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);

/** Light or dark as the user chose, or as the system does. */
export const darkness = signal<Darkness>(CHOICES.find((known) => known === localStorage.getItem(KEY)) ?? "auto");

/** What it comes to; the styles know nothing else. */
export const theme = computed(() => {
  if (darkness.value !== "auto") return darkness.value;
  return systemIsDark.value ? "dark" : "light";
});

system.addEventListener("change", ({ matches }) => (systemIsDark.value = matches));

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(KEY, darkness.value);
});

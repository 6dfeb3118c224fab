// SPDX-License-Identifier: Apache-2.0
import { computed, effect, signal } from "@preact/signals";

export const THEME_CHOICES = ["auto", "light", "dark"] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];

/** Key in the local storage. public/theme.js reads it too. */
const STORAGE_KEY = "lineage-page.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);

/** Theme that the user chose; `auto` follows the system. */
export const themeChoice = signal<ThemeChoice>(
  THEME_CHOICES.find((choice) => choice === localStorage.getItem(STORAGE_KEY)) ?? "auto",
);

/** Effective theme. */
export const theme = computed(() => {
  if (themeChoice.value !== "auto") return themeChoice.value;
  return systemIsDark.value ? "dark" : "light";
});

system.addEventListener("change", ({ matches }) => (systemIsDark.value = matches));

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(STORAGE_KEY, themeChoice.value);
});

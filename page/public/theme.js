// SPDX-License-Identifier: Apache-2.0
// Light or dark before anything is drawn, so that nothing flashes: a plain script in the head, which blocks the first
// picture as the modules do not. src/state/theme.ts takes over from there.
{
  const chosen = localStorage.getItem("lineage-page.darkness");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen === "light" || chosen === "dark" ? chosen : dark ? "dark" : "light";
}

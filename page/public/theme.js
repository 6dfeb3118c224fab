// SPDX-License-Identifier: Apache-2.0
// Sets the theme before the first paint. A classic script in the head blocks rendering; the modules, which include
// src/state/theme.ts, load later and would cause a flash of the wrong theme.
{
  const choice = localStorage.getItem("lineage-page.theme");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = choice === "light" || choice === "dark" ? choice : dark ? "dark" : "light";
}

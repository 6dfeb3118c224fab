// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: { outDir: "../build/renderers", emptyOutDir: true, target: "es2022" },
});

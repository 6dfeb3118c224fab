// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vitest/config";

// Relative paths: the service may sit behind a proxy that gives it a folder of its own.
export default defineConfig({
  base: "./",
  build: {
    outDir: "build/site",
    target: "es2022",
    // A data: URL would need a hole in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  server: { proxy: { "/api": process.env.LINEAGE_URL ?? "http://127.0.0.1:5000" } },
  test: { include: ["test/**/*.test.ts"] },
});

// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vitest/config";

// Relative URLs, so that a reverse proxy can serve the page below a path prefix.
export default defineConfig({
  base: "./",
  build: {
    outDir: "build/site",
    target: "es2022",
    // The content security policy does not allow data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  server: { proxy: { "/api": process.env.LINEAGE_URL ?? "http://127.0.0.1:5000" } },
  // Some tests lay out 50,000 nodes, beside other tests on busy machines.
  test: { include: ["test/**/*.test.ts"], testTimeout: 60_000 },
});

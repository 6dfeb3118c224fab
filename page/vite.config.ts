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
  test: { include: ["test/**/*.test.ts"] },
});

// SPDX-License-Identifier: Apache-2.0
import type { Engine } from "../model/engines";

/** SVG paths for a 24 × 24 view box and a stroke width of 2. They avoid trademarked logos. */
export const ICONS: Readonly<Record<Engine | "lock" | "suspect" | "stream" | "group" | "column", string>> = {
  // A broker and its clients.
  kafka:
    "M7 12a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0M12 12l4-4M12 12l4 4M16 6.5a2 2 0 1 0 4 0a2 2 0 1 0-4 0M16 17.5a2 2 0 1 0 4 0a2 2 0 1 0-4 0M9.5 9.5V4M9.5 14.5V20",
  // A plug and its socket.
  connect: "M3 12h5M8 8v8h2a4 4 0 0 0 0-8zM21 12h-5M16 8v8h-1M13 10h3M13 14h3",
  // Waves.
  flink: "M3 8c3-3 6-3 9 0s6 3 9 0M3 13c3-3 6-3 9 0s6 3 9 0M3 18c3-3 6-3 9 0s6 3 9 0",
  // A spark.
  spark: "M13 3l-7 11h5l-1 7l8-12h-6z",
  // An iceberg at the water line.
  iceberg: "M12 3l4 7H8zM3 10h18M6 10l2 8l5 3l4-5l1-6",
  // A bucket.
  s3: "M5 6h14l-2 13a2 2 0 0 1-2 1.5H9a2 2 0 0 1-2-1.5zM5 6c0-1.6 3-2.5 7-2.5s7 .9 7 2.5M6 11h12",
  // A cylinder.
  postgres:
    "M5 6c0-1.7 3-3 7-3s7 1.3 7 3s-3 3-7 3s-7-1.3-7-3zM5 6v12c0 1.7 3 3 7 3s7-1.3 7-3V6M5 12c0 1.7 3 3 7 3s7-1.3 7-3",
  database: "M5 6c0-1.7 3-3 7-3s7 1.3 7 3s-3 3-7 3s-7-1.3-7-3zM5 6v12c0 1.7 3 3 7 3s7-1.3 7-3V6",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  job: "M7 4l12 8l-12 8z",
  // A magnifier over rows.
  trino: "M4 5h9M4 10h6M4 15h6M11 14a4 4 0 1 0 8 0a4 4 0 1 0-8 0M18 17l3 3",
  // Columns of different height.
  duckdb: "M4 20V9M9 20V4M14 20v-8M19 20V6M3 20h18",
  // A model of models: boxes that build on each other.
  quality: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM8.5 12l2.5 2.5 4.5-5",
  dbt: "M4 14h7v6H4zM13 14h7v6h-7zM8.5 4h7v6h-7zM7.5 14l3-4M16.5 14l-3-4",
  // A clock with a flow.
  airflow: "M4 12a8 8 0 1 0 16 0a8 8 0 1 0-16 0M12 7v5l4 2",
  // Tiles of a dashboard.
  dashboard: "M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z",
  // Connected neurons.
  model: "M4 7a2 2 0 1 0 4 0a2 2 0 1 0-4 0M4 17a2 2 0 1 0 4 0a2 2 0 1 0-4 0M16 12a2 2 0 1 0 4 0a2 2 0 1 0-4 0M8 7l8 5l-8 5",
  // A table.
  lake: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14",
  suspect: "M12 4 2.5 20h19zM12 10v5M12 17.3v.4",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  stream: "M4 7l5 5l-5 5M11 7l5 5l-5 5",
  group: "M4 8h12v12H4zM8 8V4h12v12h-4",
  column: "M5 4h14v16H5zM12 4v16",
};

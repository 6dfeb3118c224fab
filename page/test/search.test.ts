// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { graphOf } from "../src/model/graph";
import { search, searchIndex } from "../src/model/search";
import { exported, SHOP } from "./samples";

const FOUND = exported({
  datasets: [
    {
      namespace: "s3://lake",
      name: "sales/orders",
      symlinks: [],
      fields: [{ name: "email" }, { name: "address", fields: [{ name: "city" }] }],
    },
  ],
});
const INDEX = searchIndex(graphOf(SHOP), FOUND, SHOP);
const find = (text: string) =>
  search(INDEX, text, 10).map(({ node, field }) => node.split(":").at(-1) + (field ? `#${field}` : ""));

test.each([
  ["orders", ["9092:orders", "//lake:sales/orders"].map((id) => id.split(":").at(-1)!)],
  ["ORDERS kind:dataset engine:kafka", ["orders"]],
  ["lake.sales", ["sales/orders"]],
  ["state:failed", ["report"]],
  ["owner:data", ["etl"]],
  ["tag:gold", ["orders"]],
  ["tag:pii", ["sales/orders#email"]],
  ["column:city", ["sales/orders#address.city"]],
  ["email", ["sales/orders#email"]],
  ["sales email", ["sales/orders#email"]],
  ["running", ["etl"]],
  ["nowhere", []],
  ["   ", []],
])("%s", (text, expected) => {
  expect(find(text)).toEqual(expected);
});

test("exact names rank before prefixes, and prefixes before other matches", () => {
  const index = searchIndex(
    graphOf({ jobs: [], datasets: ["a/stats", "stats_old", "stats"].map((name) => ({ ...SHOP.datasets[2], name })) }),
    null,
    SHOP,
  );
  expect(search(index, "stats", 10).map(({ node }) => node)).toEqual(
    ["stats", "stats_old", "a/stats"].map((name) => `dataset:s3://lake:${name}`),
  );
});

test("the number of hits is limited", () => {
  expect(search(INDEX, "s", 2)).toHaveLength(2);
});

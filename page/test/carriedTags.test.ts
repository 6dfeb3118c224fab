// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { carriedTags } from "../src/model/carriedTags";
import { buildColumnIndex } from "../src/model/columnPath";
import { dataset, exported, identity } from "./samples";

const SUMMARIES = {
  jobs: [],
  datasets: [dataset("users", { columnTags: { email: ["pii"], age: ["pii", "old"] } }), dataset("mails"), dataset("stats")],
};

function tagsOf(columns: readonly string[], ...edges: ReturnType<typeof identity>[]) {
  const index = buildColumnIndex(exported({ columns: edges }));
  return carriedTags(index, SUMMARIES, { namespace: "s3://lake", name: "stats" }, columns).map(
    ({ column, tag, origin, aggregated }) => `${column}: ${tag} from ${origin.name}.${origin.field}${aggregated ? ", aggregated" : ""}`,
  );
}

test("tags follow values over several jobs, with their origin", () => {
  const edges = [identity("users.email", "mails.address"), identity("mails.address", "stats.address"), identity("users.age", "stats.age")];
  expect(tagsOf(["address", "age", "other"], ...edges)).toEqual([
    "address: pii from users.email",
    "age: pii from users.age",
    "age: old from users.age",
  ]);
});

test("masking and indirect edges end a tag, aggregation weakens it unless another path does not aggregate", () => {
  const masked = identity("users.email", "stats.hash", { masking: true });
  const filter = identity("users.email", "stats.count", { type: "INDIRECT", subtype: "FILTER" });
  const sum = identity("users.age", "stats.total", { subtype: "AGGREGATION" });
  expect(tagsOf(["hash", "count", "total"], masked, filter, sum)).toEqual([
    "total: pii from users.age, aggregated",
    "total: old from users.age, aggregated",
  ]);
  const plain = [identity("users.age", "mails.age"), identity("mails.age", "stats.total")];
  expect(tagsOf(["total"], sum, ...plain)).toEqual(["total: pii from users.age", "total: old from users.age"]);
});

test("cycles end, and a column does not get its own tags", () => {
  const cycle = [identity("users.email", "stats.a"), identity("stats.a", "mails.a"), identity("mails.a", "stats.a")];
  expect(tagsOf(["a"], ...cycle)).toEqual(["a: pii from users.email"]);
});

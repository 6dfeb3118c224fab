// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  columnsOf,
  formatOwners,
  formatTags,
  isEditable,
  type Metadata,
  parseOwners,
  parseTags,
  withoutEmptyColumns,
} from "../src/model/metadata";

const EMPTY: Metadata = { description: "", owners: [], tags: [], columns: {} };

describe("texts of owners and tags", () => {
  test("an owner has a type, a tag a value", () => {
    expect(parseOwners(" team-data \n\nann (STEWARD)")).toEqual([
      { name: "team-data", type: "MAINTAINER" },
      { name: "ann", type: "STEWARD" },
    ]);
    expect(parseTags("gold\nretention = 30d\n=x\ny=")).toEqual([
      { key: "gold", value: "true" },
      { key: "retention", value: "30d" },
      { key: "=x", value: "true" },
      { key: "y=", value: "true" },
    ]);
  });

  test("random texts of metadata are parsed to the same metadata, or cannot be edited", () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 16807) % 2147483647) % below;
    const word = () => Array.from({ length: 1 + random(4) }, () => "ab=( )\nc,"[random(9)]).join("");
    let editable = 0;
    for (let round = 0; round < 2_000; round++) {
      const found: Metadata = {
        ...EMPTY,
        owners: [{ name: word(), type: word() }],
        tags: [{ key: word(), value: word() }],
      };
      if (!isEditable(found)) continue;
      editable++;
      expect(parseOwners(formatOwners(found.owners))).toEqual(found.owners);
      expect(parseTags(formatTags(found.tags))).toEqual(found.tags);
    }
    expect(editable).toBeGreaterThan(50);
    expect(isEditable({ ...EMPTY, tags: [{ key: "a=b", value: "c" }] })).toBe(false);
  });
});

test("columns of the schema come first, and empty ones are not sent", () => {
  const found = { ...EMPTY, columns: { gone: { description: "x", tags: [] }, email: { description: "", tags: [] } } };
  expect(columnsOf(found, ["id", "email"])).toEqual(["id", "email", "gone"]);
  expect(Object.keys(withoutEmptyColumns(found).columns)).toEqual(["gone"]);
});

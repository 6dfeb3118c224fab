# SPDX-License-Identifier: Apache-2.0
"""Columns that a column depends on, and the longest chain to a dataset, of small lineage graphs."""

from jobs.spark.transformations.lineage_reach import column_reach, dataset_chains

EDGES = "job_namespace string, job_name string, direction string, dataset_namespace string, dataset_name string"
COLUMNS = (
    "output_namespace string, output_name string, output_field string, "
    "input_namespace string, input_name string, input_field string"
)


def edges(spark, *jobs):
    """Return the edges of jobs: `a b > job > c` reads a and b, and writes c."""
    rows = []
    for inputs, job, outputs in (text.split(" > ") for text in jobs):
        sides = (("input", inputs), ("output", outputs))
        rows += [("shop", job, side, "lake", name) for side, names in sides for name in names.split()]
    return spark.createDataFrame(rows, EDGES)


def chains(frame):
    return {row["dataset_name"]: (row["jobs"], [node["name"] for node in row["chain"]]) for row in frame.collect()}


def test_the_longest_chain_of_each_dataset(spark):
    """The longest of several ways counts; a job that reads its own table, and a cycle of jobs, are one step."""
    found = chains(
        dataset_chains(
            edges(
                spark,
                *("raw > clean > orders", "raw orders > join > mart"),
                *("raw table > merge > table", "table > report > page"),
                *("raw > enter > a", "a > there > b", "b > back > a", "b > leave > end"),
                *(" > writer > made", "made > sink > "),
            )
        )
    )
    assert found == {
        "raw": (0, ["raw"]),
        "orders": (1, ["raw", "clean", "orders"]),
        "mart": (2, ["raw", "clean", "orders", "join", "mart"]),
        "table": (1, ["raw", "merge", "table"]),
        "page": (2, ["raw", "merge", "table", "report", "page"]),
        "a": (1, ["raw", "enter", "a"]),
        "end": (2, ["raw", "enter", "a", "leave", "end"]),
        "made": (1, ["writer", "made"]),
    }


def column(text):
    name, _, field = text.partition("#")
    return "lake", name, field or None


def test_a_column_depends_on_all_columns_before_it(spark):
    """An edge to a whole dataset leads nowhere: no column of it is known to depend on the input."""
    pairs = [("orders#price", "raw#price"), ("stats#total", "orders#price"), ("mart#total", "stats#total")]
    pairs += [("whole", "stats#total"), ("mart#total", "orders#price")]
    frame = spark.createDataFrame([(*column(output), *column(read)) for output, read in pairs], COLUMNS)
    reach = {(row["output_name"], row["input_name"]): row["jobs"] for row in column_reach(frame, 2).collect()}
    assert reach == {
        **{("orders", "raw"): 1, ("stats", "orders"): 1, ("stats", "raw"): 2},
        **{("mart", "stats"): 1, ("mart", "orders"): 1, ("mart", "raw"): 2},
    }


def test_an_empty_graph_has_neither(spark):
    assert column_reach(spark.createDataFrame([], COLUMNS), 2).collect() == []
    assert dataset_chains(spark.createDataFrame([], EDGES)).collect() == []

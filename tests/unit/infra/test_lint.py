# SPDX-License-Identifier: Apache-2.0
"""`lab lint`: job files against the contract; the files of the lab, and mistakes in them."""

import json
import re
from types import SimpleNamespace

import pytest

from infra.catalog import LabSettings
from infra.cli.lint import violations_of_files
from infra.cli.verification import CONTRACT
from infra.lint.named_datasets import Use
from infra.lint.rules import Rule, render_json
from infra.lint.sql_names import names_of_sql
from infra.project import PROJECT
from infra.user_files import UserFiles, read_user_files
from lineage.checks.contract import load
from tests.unit.infra.rendered_labs import LOCAL_SITE

TARGET = SimpleNamespace(site=LOCAL_SITE)
ALL = LabSettings(flink=True, dbt=True, medallion=True, dashboard=True, forecast=True, connect_file_connectors=True)
LAB = read_user_files(PROJECT)
TEXT = CONTRACT.read_text()
SINK = {"connector.class": "FileStreamSink", "topics": "@{topic.orders}", "file": "/tmp/x"}
SQL = """-- lab: task

CREATE TEMPORARY TABLE source (id STRING) WITH ('connector' = 'kafka', 'topic' = 'orders');
INSERT INTO lake.live.copies SELECT id FROM source;
"""
SPARK = """# lab: task
# needs: topic/orders

from infra.namespaces import TABLE_ORDERS as ORDERS
frame = spark.table(ORDERS)
frame.writeTo("lake.sales.suppliers").append()
"""


def violations(files, contract=TEXT, settings=ALL):
    return violations_of_files(files, settings, TARGET, load(contract))


def with_job(name, inputs, outputs, text=TEXT):
    rows = "".join(f"      - dataset: {output}\n" for output in outputs)
    job = f"  - job: {name}\n    inputs: [{', '.join(inputs)}]\n    outputs:\n{rows}" + ("" if rows else "      []\n")
    return text.replace("\njobs:\n", f"\njobs:\n{job}", 1)


def found(files, contract=TEXT):
    return [(each.file, each.line, each.rule) for each in violations(files, contract)]


def test_the_files_of_the_lab_agree_with_its_contract():
    assert violations(LAB) == []
    assert len(LAB.flink) > 1, "the lab has SQL files that were checked"


@pytest.mark.parametrize("job", [row.name for row in load(TEXT).jobs])
def test_a_job_that_the_contract_names_wrongly_is_found(job):
    """Each job of the contract is renamed alone."""
    contract = re.sub(rf"- job: {re.escape(job)}$", "- job: misnamed", TEXT, flags=re.MULTILINE)
    rules = {rule for _, _, rule in found(LAB, contract)}
    assert Rule.NO_FILE in rules
    has_file = f"{job}.sql" in LAB.flink or f"{job}.json" in LAB.connectors
    assert (Rule.NO_JOB in rules) == has_file


def test_files_without_a_row_of_the_contract_are_named():
    files = UserFiles({"copy.json": json.dumps(SINK)}, {"report.py": SPARK}, {"copies.sql": SQL})
    assert [(file, rule) for file, _, rule in found(files) if rule is Rule.NO_JOB] == [
        ("jobs/connect/copy.json", Rule.NO_JOB),
        ("jobs/flink/sql/copies.sql", Rule.NO_JOB),
        ("jobs/spark/report.py", Rule.NO_JOB),
    ]


@pytest.mark.parametrize(
    ("files", "inputs", "outputs", "expected"),
    [
        (UserFiles({"copy.json": json.dumps(SINK)}), ["kafka/orders"], [], []),
        (UserFiles({"copy.json": json.dumps(SINK)}), ["kafka/bids"], [], [Rule.NOT_DECLARED, Rule.NOT_NAMED]),
        (
            UserFiles({"copy.json": json.dumps({**SINK, "topics": "orders, bids"})}),
            ["kafka/orders"],
            [],
            [Rule.NOT_DECLARED],
        ),
        (UserFiles({"copy.json": json.dumps(SINK)}), ["kafka/orders", "kafka/bids"], [], [Rule.NOT_NAMED]),
        (UserFiles(flink={"copy.sql": SQL}), ["kafka/orders"], ["lake/live/copies"], []),
        (
            UserFiles(flink={"copy.sql": SQL}),
            ["kafka/orders"],
            ["lake/live/other"],
            [Rule.NOT_DECLARED, Rule.NOT_NAMED],
        ),
        (
            UserFiles(flink={"copy.sql": SQL.replace("'orders'", "'bids'")}),
            ["kafka/orders"],
            ["lake/live/copies"],
            [Rule.NOT_DECLARED, Rule.NOT_NAMED],
        ),
        (UserFiles(spark={"copy.py": SPARK}), ["kafka/orders", "lake/sales/orders"], ["lake/sales/suppliers"], []),
        (UserFiles(spark={"copy.py": SPARK}), ["kafka/orders", "lake/sales/orders"], [], [Rule.NOT_DECLARED]),
        (UserFiles(spark={"copy.py": SPARK}), ["lake/sales/orders"], ["lake/sales/suppliers"], [Rule.NOT_DECLARED]),
    ],
)
def test_datasets_that_differ_are_named(files, inputs, outputs, expected):
    contract = with_job("copy", inputs, outputs)
    everything = UserFiles(files.connectors, files.spark, {**LAB.flink, **files.flink})
    assert [each.rule for each in violations(everything, contract)] == expected


def test_a_violation_has_a_place_and_a_reason():
    contract = with_job("copy", ["kafka/orders"], ["lake/live/other"])
    flink = {**LAB.flink, "copy.sql": SQL}
    first, second = violations(UserFiles(flink=flink), contract)
    assert str(first) == (
        "jobs/flink/sql/copy.sql:4: writes s3://warehouse/live/copies, which the contract does not say of copy"
        " [dataset-not-in-contract]"
    )
    assert str(second).startswith(
        "jobs/flink/sql/copy.sql: the contract says that copy writes s3://warehouse/live/other"
    )
    assert json.loads(render_json([first, second]))[1]["line"] is None


def test_every_invalid_file_is_named_not_the_first_one_only():
    files = UserFiles(
        {"a.json": "{", "b.json": json.dumps({**SINK, "topics": "@{topic.order}"})},
        {"c.py": "# lab: job\n", "d.py": "# lab: task\n\ndef (:\n"},
        {"E.sql": "-- lab: task\n"},
    )
    invalid = [each for each in violations(files) if each.rule is Rule.INVALID]
    assert [each.file.rpartition("/")[2] for each in invalid] == ["a.json", "b.json", "E.sql", "c.py", "d.py"]
    assert "did you mean @{topic.orders}?" in invalid[1].text
    assert invalid[-1].line == 3


def test_names_in_sql():
    script = """
    -- INSERT INTO lake.no.comment SELECT 1;
    CREATE TABLE `t` (a STRING COMMENT 'FROM lake.no.text') WITH ('connector'='kafka', 'topic'='one;two');
    CREATE VIEW v AS SELECT * FROM lake.a.viewed;
    CREATE TABLE lake.a.made (x INT);
    WITH c AS (SELECT * FROM `lake`.`a`.`read`), d AS (SELECT 1)
    INSERT INTO lake.a.written SELECT * FROM c JOIN t ON TRUE LEFT JOIN lake.a.joined AS j ON TRUE, d;
    INSERT INTO t /*+ OPTIONS('topic'='hinted') */ SELECT * FROM v;
    INSERT OVERWRITE lake.a.replaced SELECT * FROM TABLE(TUMBLE(TABLE lake.a.windowed, DESCRIPTOR(x), '1'));
    CREATE TABLE lake.a.selected WITH ('format-version'='2') AS SELECT * FROM lake.a.read;
    EXECUTE STATEMENT SET BEGIN INSERT INTO lake.a.first SELECT 1; INSERT INTO lake.a.second SELECT 1; END;
    """
    names = {(each.use, each.dataset.name) for each in names_of_sql(script)}
    assert names == {
        *((Use.READ, f"a/{name}") for name in ("viewed", "read", "joined", "windowed")),
        *((Use.WRITTEN, f"a/{name}") for name in ("written", "replaced", "selected", "first", "second")),
        *((Use.READ, name) for name in ("one", "two")),
        (Use.WRITTEN, "hinted"),
    }

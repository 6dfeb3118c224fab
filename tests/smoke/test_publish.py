# SPDX-License-Identifier: Apache-2.0
"""`lab lineage publish` on a real lab: properties of the lake's tables, read by PyIceberg while jobs write."""

import json

import pytest

from infra.namespaces import TABLE_ORDERS
from tests.smoke.delivery import await_delivery
from tests.smoke.etl_tables import await_etl
from tests.stack.polling import until

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

PREFIX = "lineage-lab."


@pytest.fixture(scope="module")
def described(lab):
    done = lab.lab("lineage", "describe", "jobs/metadata.yaml")
    assert done.status == 0, done.text
    done = lab.lab("lineage", "publish")
    assert done.status == 0, done.text
    return done.text


def properties(lab):
    table = lab.stores.iceberg_table(TABLE_ORDERS)
    return {key: text for key, text in table.properties.items() if key.startswith(PREFIX) or key == "comment"}


def test_a_table_has_its_facts_as_properties(lab, described):
    assert f"updated {TABLE_ORDERS}" in described
    found = properties(lab)
    assert json.loads(found[f"{PREFIX}jobs"])
    assert any("/orders" in source for source in json.loads(found[f"{PREFIX}inputs"]))
    assert json.loads(found[f"{PREFIX}owners"])
    assert found["comment"] == found[f"{PREFIX}description"]
    carried = json.loads(found[f"{PREFIX}column.supplier"])
    assert "shop.public.orders#supplier" in json.dumps(carried)


def test_old_metadata_files_are_deleted_as_the_table_demands(lab, described):
    assert "Warning" not in described
    assert lab.stores.iceberg_table(TABLE_ORDERS).properties["write.metadata.delete-after-commit.enabled"] == "true"
    # A writer stores the file of a commit before it commits, and deletes the oldest file after that.
    until(lambda: superfluous_metadata_files(lab.stores) == set())


def superfluous_metadata_files(stores):
    """Return the metadata files of a table that it does not name, neither as the current one nor as an earlier one.

    Of two writers that commit at once one fails, and its file stays: it has the number of a file that is named.
    """
    table = stores.iceberg_table(TABLE_ORDERS)
    bucket, _, prefix = table.location().removeprefix("s3://").partition("/")
    pages = stores.s3().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/metadata/")
    found = {f"s3://{bucket}/{each['Key']}" for page in pages for each in page["Contents"]}
    named = {entry.metadata_file for entry in table.metadata.metadata_log} | {table.metadata_location}
    numbers = {metadata_number(file) for file in named}
    return {file for file in found if file.endswith(".metadata.json") and metadata_number(file) not in numbers}


def metadata_number(file):
    """Return the number of the commit that a metadata file belongs to."""
    return int(file.rpartition("/")[2].partition("-")[0])


def test_a_second_time_nothing_is_committed(lab, described):
    # A batch of orders_etl commits twice, its rows and then the branch, of which the second makes no snapshot.
    assert await_etl(lab.stores).differences == []
    before = commits_without_data(lab.stores.iceberg_table(TABLE_ORDERS))
    done = lab.lab("lineage", "publish")
    assert (done.status, "updated" in done.text) == (0, False), done.text
    assert commits_without_data(lab.stores.iceberg_table(TABLE_ORDERS)) == before


def commits_without_data(table):
    """Return how many commits of a table made no snapshot."""
    return metadata_number(table.metadata_location) - table.metadata.last_sequence_number


def test_writers_and_the_command_do_not_disturb_each_other(lab, described, tmp_path):
    """Properties change while orders arrive; the pipeline delivers each order once, and keeps the properties."""
    file = tmp_path / "metadata.yaml"
    entry = (
        "version: 1\ndatasets:\n- {dataset: s3://warehouse/sales/orders, owners: [night-shift], description: '%s'}\n"
    )
    with lab.running_shop():
        for number in range(3):
            file.write_text(entry % f"Changed {number}")
            for words in (("describe", file), ("publish",)):
                done = lab.lab("lineage", *map(str, words))
                assert done.status == 0, done.text
    assert [each.differences for each in await_delivery(lab.stores).values()] == [[], []]
    found = properties(lab)
    assert found["comment"] == "Changed 2"
    assert json.loads(found[f"{PREFIX}owners"]) == [{"name": "night-shift", "type": "MAINTAINER"}]
    assert set(lab.order_counts(TABLE_ORDERS).values()) == {1}
    assert lab.lab("lineage", "describe", "jobs/metadata.yaml").status == 0


def test_a_catalog_that_does_not_respond_is_named(lab):
    done = lab.lab("lineage", "publish", "--uri", "http://127.0.0.1:1")
    assert done.status != 0
    assert "opening the iceberg catalog http://127.0.0.1:1 failed" in done.text

# SPDX-License-Identifier: Apache-2.0
"""Run ids, parent runs and event times."""

from dataclasses import replace
from uuid import UUID

import pytest

from lineagelab_common.identifiers import PARENT, ROOT_PARENT, ParentRun, timestamp, uuid7

RUN_ID = "0193a1f0-0000-7000-8000-000000000000"


def test_run_ids_are_uuids_of_version_7_and_sort_by_time():
    ids = [uuid7(at * 10**6, bytes(range(10))) for at in (1, 2, 2**40)]
    assert ids == sorted(ids)
    assert {(UUID(each).version, UUID(each).variant) for each in ids} == {(7, "specified in RFC 4122")}


@pytest.mark.parametrize("parent", [ParentRun("lab", "orders", RUN_ID), ParentRun("air/flow", "dag.task", RUN_ID)])
def test_a_parent_run_is_parsed_from_its_text(parent):
    assert ParentRun.parse(str(parent)) == parent


@pytest.mark.parametrize("text", ["orders", "lab/orders/12", f"lab/{RUN_ID}", f"/orders/{RUN_ID}", f"lab//{RUN_ID}"])
def test_an_invalid_parent_run_is_rejected(text):
    with pytest.raises(ValueError, match="expected namespace/job/runId"):
        ParentRun.parse(text)


def test_the_parent_of_the_environment_has_the_root_of_its_hierarchy():
    task, dag = ParentRun("air/flow", "dag.task", RUN_ID), ParentRun("air/flow", "dag", RUN_ID)
    assert ParentRun.from_environment({}) is None
    assert ParentRun.from_environment({PARENT: "", ROOT_PARENT: str(dag)}) is None
    assert ParentRun.from_environment({PARENT: str(task)}) == task
    assert ParentRun.from_environment({PARENT: str(task), ROOT_PARENT: str(dag)}) == replace(task, root=dag)
    with pytest.raises(ValueError, match="invalid parent run 'dag'"):
        ParentRun.from_environment({PARENT: str(task), ROOT_PARENT: "dag"})


def test_event_times_have_three_fractional_digits():
    assert timestamp(1795300825638) == "2026-11-21T22:40:25.638Z"
    assert timestamp(1795300825000) == "2026-11-21T22:40:25.000Z"

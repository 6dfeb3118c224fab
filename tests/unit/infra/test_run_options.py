# SPDX-License-Identifier: Apache-2.0
"""Variables of one run of a task: `lab run --set`, and the parent that a scheduler passes on."""

import pytest

from infra.cli.services import parent_run, run_variables
from infra.errors import LabError

RUN = "0193a1f0-0000-7000-8000-000000000001"


def test_variables_are_split_at_the_first_equals_sign():
    assert run_variables(["A=1", "_b2=x=y", "C=", "A=2"]) == {"A": "2", "_b2": "x=y", "C": ""}


@pytest.mark.parametrize("text", ["A", "=1", "A B=1", "2A=1", "", "A-B=1"])
def test_other_text_is_refused(text):
    with pytest.raises(LabError, match="expected NAME=VALUE"):
        run_variables([text])


def test_the_parent_of_a_scheduler_is_read():
    assert parent_run({}) is None
    found = parent_run({"OPENLINEAGE_PARENT_ID": f"shop/nightly.stats/{RUN}"})
    assert (found.job, found.root) == ("nightly.stats", None)


@pytest.mark.parametrize("variable", ["OPENLINEAGE_PARENT_ID", "OPENLINEAGE_ROOT_PARENT_ID"])
def test_an_invalid_parent_is_refused(variable):
    given = {"OPENLINEAGE_PARENT_ID": f"shop/nightly.stats/{RUN}", variable: "nightly"}
    with pytest.raises(LabError, match="OPENLINEAGE_PARENT_ID or OPENLINEAGE_ROOT_PARENT_ID: invalid parent run"):
        parent_run(given)

# SPDX-License-Identifier: Apache-2.0
"""Pulumi's file about a stack, where it is not as it should be. What it says is compared with Pulumi in tests/stack."""

import json

import pytest

from infra.cli.checkpoint import outputs, resources
from infra.errors import LabError


@pytest.fixture
def file(tmp_path):
    return tmp_path / "mine.json"


@pytest.mark.parametrize("latest", [None, {}, {"manifest": {}, "resources": None}])
def test_a_stack_that_never_came_up_has_nothing(file, latest):
    file.write_text(json.dumps({"version": 3, "checkpoint": {"stack": "mine", "latest": latest}}))
    assert resources(file) == []
    assert outputs(resources(file)) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 3}', '{"version": 3, "checkpoint": null}'])
def test_a_damaged_file_is_named_with_the_remedy(file, text):
    file.write_text(text)
    with pytest.raises(LabError, match=r"mine\.json cannot be read.*bin/lab reset --stack mine"):
        resources(file)


def test_another_form_is_not_guessed_at(file):
    file.write_text(json.dumps({"version": 4, "checkpoint": {}}))
    with pytest.raises(LabError, match="is of version 4, and the kit reads 3"):
        resources(file)

# SPDX-License-Identifier: Apache-2.0
"""Pulumi's checkpoint file, damaged or empty. Valid files are compared with Pulumi's own output in tests/stack."""

import json

import pytest

from infra.errors import LabError
from infra.targets.checkpoint import read_resources, stack_outputs


@pytest.fixture
def file(tmp_path):
    return tmp_path / "mine.json"


@pytest.mark.parametrize("latest", [None, {}, {"manifest": {}, "resources": None}])
def test_stack_before_its_first_update_has_no_resources_and_no_outputs(file, latest):
    file.write_text(json.dumps({"version": 3, "checkpoint": {"stack": "mine", "latest": latest}}))
    assert read_resources(file) == []
    assert stack_outputs(read_resources(file)) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 3}', '{"version": 3, "checkpoint": null}'])
def test_damaged_file_is_reported_with_path_and_remedy(file, text):
    file.write_text(text)
    with pytest.raises(LabError, match=r"cannot read Pulumi's state .*mine\.json: .*bin/lab reset --stack mine"):
        read_resources(file)


def test_unsupported_format_version_is_rejected(file):
    file.write_text(json.dumps({"version": 4, "checkpoint": {}}))
    with pytest.raises(LabError, match=r"unsupported format version 4 .* expected 3"):
        read_resources(file)

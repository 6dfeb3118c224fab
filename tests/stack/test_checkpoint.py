# SPDX-License-Identifier: Apache-2.0
"""What the kit reads from Pulumi's file about a stack is what Pulumi itself says."""

import json

import pytest

from infra.cli import checkpoint
from tests.stack.engine import PROGRAM

pytestmark = pytest.mark.stack

EXPORTS = """
pulumi.export("endpoints", {"api": "http://127.0.0.1:1"})
pulumi.export("later", supervisor.id)
"""


def test_resources_and_outputs_are_those_that_pulumi_tells(make_engine):
    engine = make_engine(program=PROGRAM + EXPORTS)
    file = engine.folder / "state" / ".pulumi" / "stacks" / "stacktest" / "t.json"
    assert checkpoint.outputs(checkpoint.resources(file)) == {}
    done = engine.up()
    assert done.status == 0, done.text
    known = checkpoint.resources(file)
    assert known == json.loads(engine.pulumi("stack", "export").text)["deployment"]["resources"]
    assert {"supervisor"} <= {resource.get("id") for resource in known}
    outputs = checkpoint.outputs(known)
    assert outputs == json.loads(engine.pulumi("stack", "output", "--json").text)
    assert outputs == {"endpoints": {"api": "http://127.0.0.1:1"}, "later": "supervisor"}

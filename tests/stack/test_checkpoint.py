# SPDX-License-Identifier: Apache-2.0
"""Resources and outputs read from Pulumi's checkpoint file, compared with the output of Pulumi."""

import json

import pytest

from infra.targets.checkpoint import read_resources, stack_outputs
from tests.stack.engine import PROGRAM

pytestmark = pytest.mark.stack

EXPORTS = """
pulumi.export("endpoints", {"api": "http://127.0.0.1:1"})
pulumi.export("later", supervisor.id)
"""


def test_resources_and_outputs_equal_those_of_pulumi(make_engine):
    engine = make_engine(program=PROGRAM + EXPORTS)
    file = engine.folder / "state" / ".pulumi" / "stacks" / "stacktest" / "t.json"
    assert stack_outputs(read_resources(file)) == {}
    done = engine.up()
    assert done.status == 0, done.text
    resources = read_resources(file)
    assert resources == json.loads(engine.pulumi("stack", "export").text)["deployment"]["resources"]
    assert {"supervisor"} <= {resource.get("id") for resource in resources}
    outputs = stack_outputs(resources)
    assert outputs == json.loads(engine.pulumi("stack", "output", "--json").text)
    assert outputs == {"endpoints": {"api": "http://127.0.0.1:1"}, "later": "supervisor"}

# SPDX-License-Identifier: Apache-2.0
"""Root of a run: the run of the application that it belongs to."""

import pytest
from lineage_events import NAMESPACE, body, facet, read, run_id

from lineage.events import InvalidEvent
from lineage.graph import fold_events


def identifier(number, job):
    return {"run": {"runId": run_id(number)}, "job": {"namespace": NAMESPACE, "name": job}}


def child(number, parent=None, root=None):
    content = body(run=number, job=f"job{number}")
    if parent is not None:
        content["run"]["facets"]["parent"] = facet(**identifier(parent, f"job{parent}"))
        if root is not None:
            content["run"]["facets"]["parent"]["root"] = identifier(root, f"job{root}")
    return content


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([child(1)], None, id="the application itself"),
        pytest.param([child(1, 2), child(2)], 2, id="its parent"),
        pytest.param([child(1, 2), child(2, 3), child(3)], 3, id="the parent's parent"),
        pytest.param([child(1, 2, root=3), child(3)], 3, id="stated, parent unknown"),
        pytest.param([child(1, 2, root=3), child(2), child(3)], 3, id="stated"),
        pytest.param([child(1, 2), child(2, 4, root=3), child(3)], 3, id="stated by the parent"),
        pytest.param([child(1, 2, root=3), child(2)], 2, id="stated, but no event of it"),
        pytest.param([child(1, 1, root=1)], None, id="states itself"),
        pytest.param([child(1, 2), child(2, 2, root=2)], 2, id="its parent states itself"),
        pytest.param([child(1, 2), child(2, 1)], None, id="cycle of parents"),
    ],
)
def test_root(events, expected):
    lineage = fold_events([read(content) for content in events])
    root = lineage.root(lineage.run(run_id(1)))
    assert (root and root.id.run) == (expected and run_id(expected))


@pytest.mark.parametrize("root", [[], {"run": {}}, {"run": {"runId": "x"}, "job": {}}, identifier(1, "")])
def test_malformed_root_is_refused(root):
    content = child(1, 2)
    content["run"]["facets"]["parent"]["root"] = root
    with pytest.raises(InvalidEvent, match=r"run\.facets\.parent\.root"):
        read(content)

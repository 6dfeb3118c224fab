# SPDX-License-Identifier: Apache-2.0
"""Delta Lake's MERGE, UPDATE and DELETE as queries, in the JSON of plans. Pure.

Their commands have no children: source, target and clauses are fields. A MERGE becomes a `MergeRows` over a join, which
is how Spark plans it for other tables; UPDATE and DELETE become a filter of the rows that they change.
"""

from collections.abc import Collection

from lineagelab_spark.plan_json import Json

PACKAGE = "org.apache.spark.sql.delta.commands."

MERGE, UPDATE, DELETE = "MergeIntoCommand", "UpdateCommand", "DeleteCommand"

COMMANDS = frozenset({MERGE, UPDATE, DELETE})

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_CLAUSES = {
    "matchedClauses": "matchedInstructions",
    "notMatchedClauses": "notMatchedInstructions",
    "notMatchedBySourceClauses": "notMatchedBySourceInstructions",
}

_Flat = list[Json]
"""Tree as a list of nodes in pre-order."""


def as_query(plan: _Flat) -> _Flat:
    """Return the query of a command; any other plan is returned unchanged."""
    command = plan[0]
    kind = str(command["class"]).removeprefix(PACKAGE)
    if kind == MERGE:
        return _merge(command)
    if kind in {UPDATE, DELETE}:
        return _changed_rows(command)
    return plan


def _changed_rows(command: Json) -> _Flat:
    condition = command.get("condition")
    filtered = [_node(f"{_LOGICAL}Filter", 1, condition=condition, child=0)] if condition else []
    return [*filtered, *command["target"]]


def _merge(command: Json) -> _Flat:
    output = _output(command["target"])
    names = [attribute[0]["name"] for attribute in output]
    clauses = {
        instructions: [_instruction(clause, names) for clause in command.get(given) or ()]
        for given, instructions in _CLAUSES.items()
    }
    return [
        _node(f"{_LOGICAL}MergeRows", 1, output=output, child=0, **clauses),
        _node(f"{_LOGICAL}Join", 2, left=0, right=1, joinType="FullOuter", condition=command["condition"]),
        *command["source"],
        *command["target"],
    ]


def _output(target: _Flat) -> list[_Flat]:
    """Return the columns of the table: those of the only leaf of its plan."""
    found: list[_Flat] = target[-1]["output"]
    return found


def _instruction(clause: _Flat, names: Collection[str]) -> _Flat:
    """Return a clause with its condition and, unless it deletes, one value for each column of the table."""
    root, children = clause[0], _children(clause)
    condition = root.get("condition")
    # A condition is a child as well, and the first one.
    actions = children[1:] if condition else children
    values = {action[0]["targetColNameParts"]: action[1:] for action in actions}
    # Delta Lake expands what sets a field of a struct to the whole column. Should it not, the column is unknown.
    is_whole = values.keys() <= {f"[{name}]" for name in names}
    given = [values.get(f"[{name}]", _NULL if is_whole else _unknown(name)) for name in names] if actions else []
    parts = [condition or _TRUE, *given]
    output = {"output": [*range(1, len(parts))]} if actions else {}
    return [_node(str(root["class"]), len(parts), condition=0, **output), *(node for part in parts for node in part)]


def _children(tree: _Flat) -> list[_Flat]:
    """Return the subtrees of a root."""
    found: list[_Flat] = []
    place = 1
    for _ in range(int(tree[0]["num-children"])):
        end = _end(tree, place)
        found.append(tree[place:end])
        place = end
    return found


def _end(tree: _Flat, place: int) -> int:
    """Return the place after the subtree at a place."""
    open_nodes = 1
    while open_nodes:
        open_nodes += int(tree[place]["num-children"]) - 1
        place += 1
    return place


def _node(kind: str, children: int, **fields: object) -> Json:
    return {"class": kind, "num-children": children, **fields}


def _unknown(name: str) -> _Flat:
    """Return a reference that nothing resolves."""
    return [_node(f"{_EXPRESSIONS}AttributeReference", 0, name=f"a field of {name}", exprId={"id": -1, "jvmId": ""})]


_TRUE: _Flat = [_node(f"{_EXPRESSIONS}Literal", 0, value="true", dataType="boolean")]
_NULL: _Flat = [_node(f"{_EXPRESSIONS}Literal", 0, value=None, dataType="void")]

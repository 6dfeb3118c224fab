# SPDX-License-Identifier: Apache-2.0
"""Mutants of the lab's own lineage: every single change of it is a deviation from the contract."""

import copy
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from infra.project import PROJECT
from lineage.checks.contract import check_freshness, compare, load
from lineage.events import canonical_json
from lineage.graph import Graph, export_graph, fold_events
from lineage.rules import Rules
from lineage.rules.event_reader import read_event
from tests.page.contract_events import contract_events

CONTRACT = load((PROJECT / "jobs" / "lineage_contract.yaml").read_text(encoding="utf-8"))
FEATURES = frozenset(feature for row in (*CONTRACT.jobs, *CONTRACT.datasets) for feature in row.requires)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def events():
    return contract_events(CONTRACT, NOW)


def deviations(events, contract=CONTRACT):
    lineage = fold_events(read_event(canonical_json(event), Rules()) for event in events)
    return compare(contract, export_graph(lineage, Graph(lineage)), FEATURES).findings


def mutated(events, job, change):
    """Return the events with `change` applied to a copy of those of one job."""
    found = []
    for event in events:
        if event["job"]["name"] == job:
            event = copy.deepcopy(event)
            change(event)
        found.append(event)
    return found


def edges(event):
    """Yield each place of an input field: the list that holds it, its index, and a description."""
    for output in event["outputs"]:
        facet = output["facets"]["columnLineage"]
        for column, found in facet["fields"].items():
            for at in range(len(found["inputFields"])):
                yield found["inputFields"], at, f"{output['name']}#{column} [{at}]"
        for at in range(len(facet["dataset"])):
            yield facet["dataset"], at, f"{output['name']} [{at}]"


def test_the_unchanged_lineage_is_what_the_contract_says(events):
    assert deviations(events) == ()


@pytest.mark.parametrize("row", CONTRACT.jobs, ids=lambda row: row.name)
def test_every_mutant_of_a_job_is_found(events, row):
    own = [event for event in events if event["job"]["name"] == row.name]
    contract = replace(CONTRACT, jobs=(row,), datasets=())
    assert deviations(own, contract) == ()
    original, mutants = own[0], {}

    def mutant(text, change):
        mutants[text] = change

    for side in ("inputs", "outputs"):
        for at, used in enumerate(original[side]):
            mutant(f"{side} without {used['name']}", lambda event, side=side, at=at: event[side].pop(at))
            mutant(
                f"{side} with another name of {used['name']}",
                lambda event, side=side, at=at: event[side][at].update(name="another"),
            )
    for number, (_, _, text) in enumerate(edges(original)):

        def place(event, number=number):
            return list(edges(event))[number]

        def drop(event, place=place):
            fields, at, _ = place(event)
            fields.pop(at)

        def recast(event, place=place):
            fields, at, _ = place(event)
            for how in fields[at]["transformations"]:
                how["subtype"] = "TRANSFORMATION" if how["subtype"] != "TRANSFORMATION" else "IDENTITY"

        def mask(event, place=place):
            fields, at, _ = place(event)
            fields[at]["transformations"][0]["masking"] ^= True

        def rename(event, place=place):
            fields, at, _ = place(event)
            fields[at]["field"] += "_renamed"

        for name, change in (("dropped", drop), ("another cast", recast), ("masking", mask), ("renamed", rename)):
            mutant(f"{name}: {text}", change)
    for at, output in enumerate(original["outputs"]):
        for column in range(len(output["facets"]["schema"]["fields"])):

            def rename_column(event, at=at, column=column):
                event["outputs"][at]["facets"]["schema"]["fields"][column]["name"] += "_renamed"

            mutant(f"column {column} of {output['name']} renamed", rename_column)
    missed = [text for text, change in mutants.items() if not deviations(mutated(own, row.name, change), contract)]
    assert mutants
    assert missed == []


@pytest.mark.parametrize("row", [row for row in CONTRACT.datasets if row.schema], ids=lambda row: row.dataset.name)
def test_every_retyped_column_of_an_agreed_schema_is_found(events, row):
    writers = {job.name for job in CONTRACT.jobs for output in job.outputs if output.dataset == row.dataset}
    for column in row.schema.columns:

        def retype(event, column=column):
            for output in event["outputs"]:
                for field in output["facets"]["schema"]["fields"]:
                    if output["name"] == row.dataset.name and field["name"] == column.name:
                        field["type"] = "array<int>"

        found = events
        for writer in writers:
            found = mutated(found, writer, retype)
        assert [finding.subject for finding in deviations(found)] == ["schema"], column


def test_a_dataset_that_nobody_writes_is_not_fresh():
    findings = list(check_freshness(CONTRACT, {}, 0.0, FEATURES))
    assert {finding.job for finding in findings} == {
        str(row.dataset) for row in CONTRACT.datasets if row.freshness is not None
    }

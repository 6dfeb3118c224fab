# SPDX-License-Identifier: Apache-2.0
"""Answers about one node at a past time: those of the fold of all events until then."""

import random
from contextlib import closing

import pytest
from lineage_events import RULES, body, dataset, dataset_event, encode, facet, read
from lineage_run_histories import RunHistories
from test_lineage_run_archive import READER, Restarts

from lineage.events import canonical_json, read_original
from lineage.graph import Graph, LineageRecords, fold_events
from lineage.marquez import Catalog, node_id
from lineage.past import query
from lineage.past.answers import Answer, NoDataset, Question, UnknownNode, answer
from lineage.past.neighbours import WholeGraph
from lineage.past.query import answer_as_of
from lineage.store import past_parts, past_states
from lineage.store.graph_as_of import Compacted, FileRows, State, snapshot_of_file, whole_graph
from lineage.store.projection import Projection
from lineage.store.rows import batched
from lineage.store.state_file import open_state
from tests.fast_part import fast_part

assert READER.rules is RULES


LOGICAL = "hive://metastore"
TABLES = ("shop.a", "shop.b", "shop.c")


def answer_or_error(ask, *given):
    try:
        return canonical_json(ask(*given))
    except (UnknownNode, NoDataset) as error:
        return type(error).__name__


def questions_about(nodes, chance):
    """Return every kind of question about every node, each with a random depth."""
    for node in nodes:
        for kind in Answer:
            depths = [0, 1, 2, 5] if kind in (Answer.GRAPH, Answer.LINEAGE) else [0, 1, 2, None]
            yield Question(kind, node, chance.choice(depths))


def history(seed):
    """Return events of several applications that share datasets, with other names, renamings and catalog entries."""
    chance = random.Random(seed)
    contents = [event.original.body for part in range(2) for event in RunHistories(100 * seed + part).make()]
    for content in contents:
        for found in (*content.get("inputs", ()), *content.get("outputs", ())):
            facets = found["facets"]
            if chance.random() < 0.2:
                found.update(namespace=LOGICAL, name=chance.choice(TABLES))
            if chance.random() < 0.2:
                facets["symlinks"] = facet(identifiers=aliases(chance))
            if chance.random() < 0.1:
                facets["lifecycleStateChange"] = change(chance)
    for _ in range(12):
        contents.append(declaration(chance))
    contents.sort(key=lambda content: content["eventTime"])
    return contents


def aliases(chance):
    """Return names of tables, and of places of data, which cannot be aliases of another one."""
    names = [(LOGICAL, name) for name in TABLES] + [(dataset("a")["namespace"], name) for name in "abcd"]
    found = chance.sample(names, chance.randint(0, 2))
    return [{"namespace": namespace, "name": name, "type": "TABLE"} for namespace, name in found]


def change(chance):
    if chance.random() < 0.5:
        return facet(lifecycleStateChange="DROP")
    previous = {"namespace": dataset("a")["namespace"], "name": chance.choice("abcd")}
    return facet(lifecycleStateChange="RENAME", previousIdentifier=previous)


def declaration(chance):
    """Return a job event, or a dataset event."""
    second = chance.randint(0, 120)
    if chance.random() < 0.5:
        names = chance.sample("abcd", 2)
        job, (source, target) = chance.choice(["batch", "declared"]), map(dataset, names)
        return body(None, second, run=None, job=job, inputs=[source], outputs=[target])
    found = dataset(chance.choice("abcd"), schema={"fields": [{"name": chance.choice("xyz"), "type": "int"}]})
    if chance.random() < 0.5:
        sources = [{"namespace": found["namespace"], "name": chance.choice("abcd"), "field": "x"}]
        found["facets"]["columnLineage"] = facet(fields={"y": {"inputFields": sources}})
    return dataset_event(second, found)


def every_answer(lineage):
    """Return what is answered about every node."""
    whole = WholeGraph(lineage, Graph(lineage))
    nodes = [node_id(name) for name in sorted((*lineage.jobs, *lineage.nodes.by_name))]
    questions = [Question(kind, node, 3) for node in nodes for kind in (Answer.GRAPH, Answer.LINEAGE, Answer.ORIGIN)]
    catalog = Catalog(lineage, whole.graph, 10**18)
    datasets = {str(name): canonical_json(catalog.dataset(name)) for name in lineage.datasets}
    return datasets, [answer_or_error(answer, whole, question, READER, 10**18) for question in questions]


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_a_function_of_the_set_of_events(seed):
    chance = random.Random(seed)
    events = [read(content) for content in history(seed)]
    expected = every_answer(fold_events(events))
    for _ in range(2):
        chance.shuffle(events)
        lineage = LineageRecords()
        for event in [*events, *chance.choices(events, k=10)]:
            lineage.apply(event)
        assert every_answer(lineage) == expected


@pytest.mark.parametrize("compacting", [False, True])
@pytest.mark.parametrize("seed", fast_part(range(3)))
def test_answers_about_a_past_node_are_those_of_the_events_until_then(tmp_path, monkeypatch, seed, compacting):
    monkeypatch.setattr(past_states, "_MIN_EVENTS", 20)
    monkeypatch.setattr(past_states, "_EVENTS_PER_RECORD", 0)
    monkeypatch.setattr(past_parts, "ROWS_PER_PART", 3)
    chance = random.Random(seed)
    contents = history(seed)
    for at in chance.sample(range(len(contents)), 6 if seed % 2 else 0):  # some arrive late
        contents.insert(min(len(contents), at + chance.randrange(40)), contents.pop(at))
    service = Restarts(tmp_path, max_recalled=seed % 4, max_in_memory=seed % 3)
    for count, content in enumerate(contents):
        service.store(content)
        if chance.random() < 0.2:
            service.save()
        if chance.random() < 0.03:
            service.restart()
        if compacting and count == len(contents) // 3:
            service.compact()
    events = [read(content) for content in contents]
    state = State(service.state.state.path, service.state.state.digest)
    nodes = [node_id(name) for name in (*service.state.lineage.jobs, *service.state.lineage.nodes.by_name)]
    nodes += [f"datasetField:{':'.join(name)}:y" for name in service.state.lineage.datasets]
    answered, read_whole = 0, []
    monkeypatch.setattr(query, "whole_graph", lambda *given: read_whole.append(1) or whole_graph(*given))
    for at in chance.sample(sorted({event.order.time for event in events}), 12):
        lineage = fold_events(event for event in events if event.order.time <= at)
        whole = WholeGraph(lineage, Graph(lineage))
        for question in questions_about(chance.sample(nodes, 4), chance):
            expected = answer_or_error(answer, whole, question, READER, at)
            with closing(snapshot_of_file(tmp_path / "lineage.db")) as log:
                try:
                    found = answer_or_error(answer_as_of, FileRows(log), at, READER, question, state)
                except Compacted:
                    continue
                assert found == expected, (question, at)
                answered += 1
    assert answered > 80
    assert compacting or not read_whole
    assert len(read_whole) < answered / 2
    service.close()


@pytest.mark.parametrize("seed", fast_part(range(2)))
def test_past_answers_over_both_stores(store, monkeypatch, tmp_path, seed):
    """Fill a log, of which the state is in a file beside it, and ask about nodes at all times."""
    monkeypatch.setattr(past_states, "_MIN_EVENTS", 40)
    monkeypatch.setattr(past_states, "_EVENTS_PER_RECORD", 0)
    chance = random.Random(seed)
    contents = history(50 + seed)
    events = [read(content) for content in contents]
    with closing(store.open()) as log:
        state = Projection(log, READER, open_state(tmp_path, READER.rules, 0, 0, log.identity))
        for part in batched(contents, 10):
            log.append([read_original(encode(content)) for content in part], 2**62)
            for stored in log.after(state.position, 99):
                state.apply_stored(stored)
            state.position = log.last()
            for _ in state.save():
                pass
            state.commit()
        nodes = [node_id(name) for name in (*state.lineage.jobs, *state.lineage.nodes.by_name)]
        file = State(state.state.path, state.state.digest)
        monkeypatch.setattr(query, "whole_graph", None)
        for at in chance.sample(sorted({event.order.time for event in events}), 6):
            lineage = fold_events(event for event in events if event.order.time <= at)
            whole = WholeGraph(lineage, Graph(lineage))
            for question in questions_about(chance.sample(nodes, 4), chance):
                expected = answer_or_error(answer, whole, question, READER, at)
                with store.rows() as rows:
                    found = answer_or_error(answer_as_of, rows, at, READER, question, file)
                assert found == expected, (question, at)
        state.state.close()

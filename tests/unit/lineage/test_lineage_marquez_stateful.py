# SPDX-License-Identifier: Apache-2.0
"""Random sequences of Marquez's writes, compared with a small model."""

import asyncio
import shutil
import tempfile
from itertools import count
from pathlib import Path

import httpx
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from lineage_client import admin_headers
from lineage_events import RULES, run_id

from lineage.api import create_app
from lineage.settings import Settings
from lineage.store import EventLog

NAMESPACES = st.sampled_from(["a", "b"])
NAMES = st.sampled_from(["x", "y/z"])
TAGS = st.sampled_from(["T", "U"])
FIELDS = st.lists(st.sampled_from(["f", "g"]), unique=True)
RANKS = {"NEW": 0, "RUNNING": 1, "COMPLETED": 2, "ABORTED": 3, "FAILED": 4}
TRANSITIONS = {"start": "RUNNING", "complete": "COMPLETED", "abort": "ABORTED", "fail": "FAILED"}
SOURCE = "source"


class Node:
    """Job or dataset of the model. Tags outlive a deletion, as all history does."""

    def __init__(self):
        self.alive = True
        self.tags = set()
        self.column_tags = set()
        self.fields = []
        self.description = None
        self.inputs = []


class MarquezWrites(RuleBasedStateMachine):
    """A service and its model: namespaces, datasets, jobs, runs and tags."""

    def __init__(self):
        super().__init__()
        self.namespaces = {}
        self.datasets = {}
        self.jobs = {}
        self.runs = {}
        self.tags = {}
        self.numbers = count(1)
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        config = Settings(host="127.0.0.1", port=0, data=self.folder, rules=None)
        self.app = create_app(config, RULES, EventLog(self.folder, 0))
        self.context = self.app.router.lifespan_context(self.app)
        self.loop.run_until_complete(self.context.__aenter__())
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app), base_url="http://lineage", headers=admin_headers(self.folder)
        )

    def teardown(self):
        self.loop.run_until_complete(self.check_rebuild())
        self.loop.run_until_complete(self.context.__aexit__(None, None, None))
        self.loop.close()
        shutil.rmtree(self.folder)

    async def check_rebuild(self):
        before = await self.answers()
        assert (await self.client.post("/api/v1/rebuild")).json()["equal"] is True
        assert await self.answers() == before

    async def answers(self):
        paths = ["/namespaces", "/tags", "/jobs", *(f"/namespaces/{name}/datasets" for name in self.namespaces)]
        return [(await self.client.get(f"/api/v1{path}")).json() for path in paths]

    def ask(self, method, path, status=200, content=None):
        response = self.loop.run_until_complete(self.client.request(method, f"/api/v1{path}", json=content))
        assert response.status_code == status, (method, path, response.text)
        return response.json()

    def expected(self, known):
        """Return the status of a request that needs something to exist."""
        return 200 if known else 404

    def living(self, nodes, namespace=None):
        return {key: node for key, node in nodes.items() if node.alive and namespace in (None, key[0])}

    def drawn(self, data, nodes):
        """Return the identity of a job or dataset: mostly of one that exists."""
        everything = [(namespace, name) for namespace in ("a", "b") for name in ("x", "y/z")]
        return data.draw(st.sampled_from(sorted(self.living(nodes)) * 4 + everything))

    @initialize()
    def create_nodes(self):
        self.ask("PUT", f"/sources/{SOURCE}", content={"type": "KAFKA", "connectionUrl": "kafka://k:1"})
        for namespace in ("a", "b"):
            self.put_namespace(namespace, None)
            self.put_dataset(namespace, "x", ["f"], {"T"}, None)
            self.put_job(namespace, "x", {(namespace, "x")})

    @rule(namespace=NAMESPACES, description=st.none() | st.sampled_from(["first", "second"]))
    def put_namespace(self, namespace, description):
        content = {"ownerName": "me", "description": description}
        found = self.ask("PUT", f"/namespaces/{namespace}", content=content)
        assert (found["description"], found["isHidden"]) == (description, False)
        self.namespaces[namespace] = True

    @rule(namespace=NAMESPACES, chance=st.sampled_from(range(5)))
    def delete_namespace(self, namespace, chance):
        if chance != 3:
            return
        self.ask("DELETE", f"/namespaces/{namespace}", self.expected(namespace in self.namespaces))
        if namespace in self.namespaces:
            self.namespaces[namespace] = False
            for nodes in (self.datasets, self.jobs):
                for node in self.living(nodes, namespace).values():
                    node.alive = False

    @rule(namespace=NAMESPACES, name=NAMES, fields=FIELDS, tags=st.sets(TAGS), description=st.none() | st.just("d"))
    def put_dataset(self, namespace, name, fields, tags, description):
        content = {"type": "STREAM", "physicalName": name, "sourceName": SOURCE, "tags": sorted(tags)}
        content |= {"fields": [{"name": field, "type": "INT"} for field in fields], "description": description}
        known = namespace in self.namespaces
        self.ask("PUT", f"/namespaces/{namespace}/datasets/{name}", self.expected(known), content)
        if known:
            node = self.datasets.setdefault((namespace, name), Node())
            node.alive = self.namespaces[namespace] = True
            node.tags |= tags
            node.fields = fields
            node.description = description or node.description

    @rule(data=st.data())
    def delete_dataset(self, data):
        namespace, name = self.drawn(data, self.datasets)
        known = (namespace, name) in self.living(self.datasets)
        self.ask("DELETE", f"/namespaces/{namespace}/datasets/{name}", self.expected(known))
        if known:
            self.datasets[namespace, name].alive = False

    @rule(data=st.data(), kind=st.sampled_from(["jobs", "datasets"]), tag=TAGS, add=st.booleans())
    def change_tag(self, data, kind, tag, add):
        namespace, name = self.drawn(data, getattr(self, kind))
        nodes = self.living(getattr(self, kind))
        known = (namespace, name) in nodes
        path = f"/namespaces/{namespace}/{kind}/{name}/tags/{tag}"
        found = self.ask("POST" if add else "DELETE", path, self.expected(known))
        if known:
            node = nodes[namespace, name]
            node.tags = node.tags | {tag} if add else node.tags - {tag}
            assert found["tags"] == sorted(node.tags)

    @rule(data=st.data(), field=st.sampled_from(["f", "g"]), tag=TAGS, add=st.booleans())
    def change_tag_of_column(self, data, field, tag, add):
        namespace, name = self.drawn(data, self.datasets)
        node = self.living(self.datasets).get((namespace, name))
        known = node is not None and field in node.fields
        path = f"/namespaces/{namespace}/datasets/{name}/fields/{field}/tags/{tag}"
        self.ask("POST" if add else "DELETE", path, self.expected(known))
        if known:
            node.column_tags = node.column_tags | {(field, tag)} if add else node.column_tags - {(field, tag)}

    @rule(data=st.data(), namespace=NAMESPACES, name=NAMES)
    def put_job_with_drawn_inputs(self, data, namespace, name):
        self.put_job(namespace, name, {self.drawn(data, self.datasets) for _ in range(2)})

    def put_job(self, namespace, name, inputs):
        named = [{"namespace": key[0], "name": key[1]} for key in sorted(inputs)]
        content = {"type": "BATCH", "inputs": named, "outputs": []}
        known = namespace in self.namespaces and inputs <= self.living(self.datasets).keys()
        self.ask("PUT", f"/namespaces/{namespace}/jobs/{name}", self.expected(known), content)
        if known:
            node = self.jobs.setdefault((namespace, name), Node())
            node.alive = self.namespaces[namespace] = True
            node.inputs = named
            for key in inputs:
                self.namespaces[key[0]] = True

    @rule(data=st.data())
    def delete_job(self, data):
        namespace, name = self.drawn(data, self.jobs)
        known = (namespace, name) in self.living(self.jobs)
        self.ask("DELETE", f"/namespaces/{namespace}/jobs/{name}", self.expected(known))
        if known:
            self.jobs[namespace, name].alive = False

    @rule(data=st.data())
    def create_run(self, data):
        namespace, name = self.drawn(data, self.jobs)
        known = (namespace, name) in self.living(self.jobs)
        identity = run_id(next(self.numbers))
        path = f"/namespaces/{namespace}/jobs/{name}/runs"
        self.ask("POST", path, 201 if known else 404, {"id": identity})
        if known:
            self.runs[identity] = [(namespace, name), "NEW"]
            self.ask("POST", path, 400, {"id": identity})

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), transition=st.sampled_from(sorted(TRANSITIONS)))
    def move_run(self, data, transition):
        identity = data.draw(st.sampled_from(sorted(self.runs)))
        job, state = self.runs[identity]
        state = max(state, TRANSITIONS[transition], key=RANKS.__getitem__)
        self.runs[identity] = [job, state]
        assert self.ask("POST", f"/jobs/runs/{identity}/{transition}")["state"] == state
        self.jobs[job].alive = self.namespaces[job[0]] = True

    @rule(tag=TAGS, description=st.none() | st.just("about"))
    def put_tag(self, tag, description):
        self.tags[tag] = description
        assert self.ask("PUT", f"/tags/{tag}", content={"description": description})["description"] == description

    @invariant()
    def namespaces_are_those_of_the_model(self):
        listed = [row["name"] for row in self.ask("GET", "/namespaces")["namespaces"]]
        assert listed == sorted(name for name, shown in self.namespaces.items() if shown)

    @invariant()
    def datasets_are_those_of_the_model(self):
        for namespace in self.namespaces:
            rows = self.ask("GET", f"/namespaces/{namespace}/datasets")["datasets"]
            living = self.living(self.datasets, namespace)
            assert {(row["namespace"], row["name"]) for row in rows} == living.keys()
            for row in rows:
                node = living[row["namespace"], row["name"]]
                assert (row["tags"], row["description"]) == (sorted(node.tags), node.description)
                assert [field["name"] for field in row["fields"]] == node.fields
                for field in row["fields"]:
                    assert field["tags"] == sorted(tag for column, tag in node.column_tags if column == field["name"])

    @invariant()
    def jobs_are_those_of_the_model(self):
        page = self.ask("GET", "/jobs")
        living = self.living(self.jobs)
        assert {(row["namespace"], row["name"]) for row in page["jobs"]} == living.keys()
        assert page["totalCount"] == len(living)
        updated = [row["updatedAt"] for row in page["jobs"]]
        assert updated == sorted(updated, reverse=True)
        for row in page["jobs"]:
            key = (row["namespace"], row["name"])
            # Edges of a dropped dataset vanish until it exists again.
            inputs = [name for name in living[key].inputs if self.datasets[name["namespace"], name["name"]].alive]
            assert (row["tags"], row["inputs"]) == (sorted(living[key].tags), inputs)
            runs = self.ask("GET", f"/namespaces/{key[0]}/jobs/{key[1]}/runs")["runs"]
            states = {identity: state for identity, (job, state) in self.runs.items() if job == key}
            assert {run["id"]: run["state"] for run in runs} == states

    @invariant()
    def lineage_draws_what_exists(self):
        for (namespace, name), node in self.living(self.jobs).items():
            graph = self.ask("GET", f"/lineage?nodeId=job:{namespace}:{name}&depth=0")["graph"]
            drawn = {found["data"]["name"] for found in graph if found["type"] == "DATASET"}
            inputs = [(found["namespace"], found["name"]) for found in node.inputs]
            assert drawn == {key[1] for key in inputs if self.datasets[key].alive}

    @invariant()
    def searches_find_what_exists(self):
        for kind, nodes in (("JOB", self.jobs), ("DATASET", self.datasets)):
            for name in ("x", "y/z"):
                results = self.ask("GET", f"/search?q={name}&filter={kind}")["results"]
                assert {(row["namespace"], row["name"]) for row in results} == {
                    key for key in self.living(nodes) if key[1] == name
                }

    @invariant()
    def tags_are_those_of_the_model(self):
        nodes = [*self.living(self.jobs).values(), *self.living(self.datasets).values()]
        columns = {tag for node in self.living(self.datasets).values() for _, tag in node.column_tags}
        names = set(self.tags).union(columns, *(node.tags for node in nodes))
        expected = [{"name": name, "description": self.tags.get(name)} for name in sorted(names)]
        assert self.ask("GET", "/tags")["tags"] == expected


TestMarquezWrites = pytest.mark.slow(MarquezWrites.TestCase)
TestMarquezWrites.settings = settings(max_examples=25, stateful_step_count=20, deadline=None, derandomize=True)

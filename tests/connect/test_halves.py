# SPDX-License-Identifier: Apache-2.0
"""Workers with only the transform or only the REST extension: their events, and the limits they log at start."""

import json
import re
import shlex

import httpx

from infra.project import PROJECT
from tests.connect.cluster import sink, source, with_lineage
from tests.connect.event_history import names, schema
from tests.connect.rest import until
from tests.connect.worker import lineage_options


def test_extension_alone_reports_life_cycle_and_datasets(alone, endpoint, name, tmp_path):
    cluster, process = alone(lineage_options(endpoint.url, name[:40]))
    assert re.search(r"(?i)transform", process.output())
    cluster.topic(name)
    cluster.create(name, sink(name, file=tmp_path / "out"))
    cluster.await_transitions(name, "1 START")
    cluster.rest.pause(name)
    cluster.await_transitions(name, "1 START", "1 OTHER PAUSED")
    cluster.rest.delete(name)
    history = cluster.await_transitions(name, "1 START", "1 OTHER PAUSED", "1 ABORT")
    assert names(history.last, "inputs") == {name}
    assert schema(history.last, "inputs", name) == {}


def test_transform_alone_reports_schemas_and_failures(alone, endpoint, name, tmp_path):
    options = lineage_options(endpoint.url, name[:40])
    del options["rest.extension.classes"]
    cluster, process = alone(options)
    failing, topic = f"{name}-failing", name
    cluster.topic(topic)
    own = {"transport.url": endpoint.url, "namespace.kafka": "kafka://kafka:9092", "poll.interval.ms": 100}
    own |= {"transform.only.after.ms": 0}
    cluster.create(name, with_lineage(source(topic), **own))
    event = cluster.await_event(name, "with a schema", lambda event: schema(event, "outputs", topic))
    assert names(event, "outputs") == {topic}
    assert re.search(r"(?i)extension", process.output())
    cluster.create(failing, with_lineage(source(topic, fail__at="records", fail__after__records=3), **own))
    cluster.await_transitions(failing, "1 START", "1 FAIL")
    cluster.rest.delete(name)
    until(lambda: cluster.history(name).transitions()[-1] != "1 START", "the end of the run")


def test_unknown_option_is_logged_with_the_nearest_known_one(alone, endpoint, name, tmp_path):
    wrong = {"openlineage.transport.ulr": "http://nowhere", "openlineage.job.namespase": "other"}
    cluster, process = alone(lineage_options(endpoint.url, name[:40]) | wrong)
    assert re.search(r"openlineage\.transport\.ulr .*did you mean openlineage\.transport\.url\?", process.output())
    assert re.search(r"openlineage\.job\.namespase .*did you mean openlineage\.job\.namespace\?", process.output())
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name), datasetz="x -> y|z"))
    cluster.await_transitions(name, "1 START")
    assert re.search(r"datasetz .*did you mean .*datasets\?", process.output())


def test_options_of_the_transform_are_listed_and_validated_as_documented(cluster):
    """Run the commands of the installation page against a worker."""
    page = (PROJECT / "docs" / "how-to" / "install-the-connect-plugin.md").read_text(encoding="utf-8")
    root = cluster.rest.url
    commands = re.findall(r"^curl .*?(?=^```)", page, re.MULTILINE | re.DOTALL)
    listing, validation = (shlex.split(command.replace("http://localhost:8083", root)) for command in commands)
    options = httpx.get(listing[-1], trust_env=False).raise_for_status().json()
    assert {"transport.url", "interval.ms", "datasets"} <= {option["name"] for option in options}
    [address] = [word for word in validation if word.startswith(root)]
    answer = httpx.put(address, json=json.loads(validation[-1]), trust_env=False).raise_for_status().json()
    errors = {item["value"]["name"]: item["value"]["errors"] for item in answer["configs"] if item["value"]["errors"]}
    assert errors.keys() == {"transforms.lineage.interval.ms"}
    assert "soon" in errors["transforms.lineage.interval.ms"][0]

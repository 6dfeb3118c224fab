# SPDX-License-Identifier: Apache-2.0
"""Every way out for events, from a real connector to where they arrive: whole, in order, and as the standard says."""

import json

import pytest

from tests.connect.certificates import PASSWORD, certificates
from tests.connect.cluster import source, with_lineage
from tests.connect.endpoint import listening
from tests.connect.rest import until
from tests.connect.stories import Story, names, schema

TOKEN = "a-token-that-is-nowhere-else"


def tell_a_life(cluster, name, read, **options):
    """A connector from its creation to its end, as it is told where `read` finds events."""
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name), **options))
    until(lambda: any(schema(event, "outputs", name) for event in read()), f"{name}: an event with a schema")
    cluster.rest.delete(name)
    until(lambda: "1 ABORT" in Story.of(name, read()).told(), f"{name}: the end of the run")
    story = Story.of(name, read())
    assert story.told() == ["1 START", "1 ABORT"]
    assert story.flaws() == []
    assert names(story.last, "outputs") == {name}
    assert cluster.story(name).events == (), "they go to one place"
    return story


def test_to_a_file(cluster, name, tmp_path):
    file = tmp_path / "events.ndjson"

    def read():
        # A line that is just being written is whole at the next look.
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    tell_a_life(cluster, name, read, **{"transport.type": "file", "transport.file": file})


def test_to_a_topic(cluster, name):
    topic = f"{name}-events"
    cluster.topic(topic)

    def read():
        return [json.loads(value) for value in cluster.values(topic)]

    tell_a_life(cluster, name, read, **{"transport.type": "kafka", "transport.topic": topic})


@pytest.fixture(scope="module")
def trusted(tmp_path_factory):
    return certificates(tmp_path_factory.mktemp("tls") / "files")


def tls_options(url, truststore):
    return {
        "transport.url": url,
        "transport.ssl.truststore.location": truststore,
        "transport.ssl.truststore.password": PASSWORD,
    }


def test_over_tls_with_a_token_to_a_service_whose_authority_only_the_truststore_knows(cluster, name, trusted):
    with listening(tls=trusted.server, required={"Authorization": f"Bearer {TOKEN}"}) as service:
        options = tls_options(service.url, trusted.truststore) | {"transport.auth.bearer.token": TOKEN}
        story = tell_a_life(cluster, name, lambda: service.events, **options)
    told = json.dumps(story.events)
    assert TOKEN not in told
    assert PASSWORD not in told


def test_who_is_not_let_in_or_does_not_trust_the_service_says_so_and_the_records_flow(
    cluster, shared_worker, name, trusted
):
    with listening(tls=trusted.server, required={"X-API-Key": TOKEN}) as service:
        stranger, doubter = f"{name}-stranger", f"{name}-doubter"
        cluster.topic(name)
        trusting = tls_options(service.url, trusted.truststore) | {"interval.ms": 1000}
        cluster.create(stranger, with_lineage(source(name), **trusting))
        cluster.create(doubter, with_lineage(source(name), **{"transport.url": service.url}))
        until(lambda: "returned status 401" in shared_worker.said(), "the refusal in the log")
        until(lambda: "SSLHandshakeException" in shared_worker.said(), "the doubt in the log")
        before = len(cluster.values(name))
        until(lambda: len(cluster.values(name)) > before + 10, "more records")
        for connector in (stranger, doubter):
            cluster.rest.await_states(connector, "RUNNING", "RUNNING")
        assert service.events == []
        let_in = trusting | {"transport.auth.api.key": TOKEN}
        cluster.rest.configure(stranger, with_lineage(source(name), **let_in))
        until(lambda: Story.of(stranger, service.events).events, "events of whom it lets in")
        for connector in (stranger, doubter):
            cluster.rest.delete(connector)
        until(lambda: "1 ABORT" in Story.of(stranger, service.events).told(), "the end of the run")

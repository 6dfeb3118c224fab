# SPDX-License-Identifier: Apache-2.0
"""Every transport, from a real connector to the destination: complete, in order, valid OpenLineage events."""

import json

import pytest

from tests.connect.certificates import PASSWORD, certificates
from tests.connect.cluster import life_cycle, source, with_lineage
from tests.connect.endpoint import listening
from tests.connect.event_history import EventHistory, events_in
from tests.connect.rest import until

TOKEN = "a-token-found-nowhere-else"


def run_life_cycle(cluster, name, read, **options):
    """Create and delete a connector; verify its events as returned by `read`."""
    history = life_cycle(cluster, name, read, **options)
    assert cluster.history(name).events == (), "events are sent to one destination only"
    return history


def test_to_a_file(cluster, name, tmp_path):
    file = tmp_path / "events.ndjson"
    run_life_cycle(cluster, name, lambda: events_in(file), **{"transport.type": "file", "transport.file": file})


def test_to_a_topic(cluster, name):
    topic = f"{name}-events"
    cluster.topic(topic)

    def read():
        return [json.loads(value) for value in cluster.values(topic)]

    run_life_cycle(cluster, name, read, **{"transport.type": "kafka", "transport.topic": topic})


@pytest.fixture(scope="module")
def trusted(tmp_path_factory):
    return certificates(tmp_path_factory.mktemp("tls") / "files")


def tls_options(url, truststore):
    return {
        "transport.url": url,
        "transport.ssl.truststore.location": truststore,
        "transport.ssl.truststore.password": PASSWORD,
    }


def test_tls_with_truststore_and_bearer_token(cluster, name, trusted):
    with listening(tls=trusted.server, required={"Authorization": f"Bearer {TOKEN}"}) as service:
        options = tls_options(service.url, trusted.truststore) | {"transport.auth.bearer.token": TOKEN}
        history = run_life_cycle(cluster, name, lambda: service.events, **options)
    text = json.dumps(history.events)
    assert TOKEN not in text
    assert PASSWORD not in text


def test_unauthorized_and_untrusting_clients_log_and_pass_records_on(cluster, shared_worker, name, trusted):
    with listening(tls=trusted.server, required={"X-API-Key": TOKEN}) as service:
        unauthorized, untrusting = f"{name}-unauthorized", f"{name}-untrusting"
        cluster.topic(name)
        trusting = tls_options(service.url, trusted.truststore) | {"interval.ms": 1000}
        cluster.create(unauthorized, with_lineage(source(name), **trusting))
        cluster.create(untrusting, with_lineage(source(name), **{"transport.url": service.url}))
        until(lambda: "returned status 401" in shared_worker.output(), "status 401 in the log")
        until(lambda: "SSLHandshakeException" in shared_worker.output(), "the TLS failure in the log")
        before = len(cluster.values(name))
        until(lambda: len(cluster.values(name)) > before + 10, "more records")
        for connector in (unauthorized, untrusting):
            cluster.rest.await_states(connector, "RUNNING", "RUNNING")
        assert service.events == []
        authorized = trusting | {"transport.auth.api.key": TOKEN}
        cluster.rest.configure(unauthorized, with_lineage(source(name), **authorized))
        until(lambda: EventHistory.of(unauthorized, service.events).events, "events of the authorized connector")
        for connector in (unauthorized, untrusting):
            cluster.rest.delete(connector)
        until(lambda: "1 ABORT" in EventHistory.of(unauthorized, service.events).transitions(), "the end of the run")

# SPDX-License-Identifier: Apache-2.0
"""Settings of the topic that events are read from."""

import pytest

from lineage.egress import KafkaTarget
from lineage.ingress.kafka_source import KafkaSource, KafkaSourceError, read_client_config
from lineage.settings import parse_arguments


def test_settings_of_a_file_reach_the_client(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text("# comment\n\nsecurity.protocol = SASL_SSL\nsasl.password=a=b\n")
    given = ["--kafka-topic", "events", "--kafka-servers", "one:9092,two:9092", "--kafka-config", str(file)]
    source = parse_arguments(["--data", "data", *given]).kafka
    assert source == KafkaSource(
        "events", "one:9092,two:9092", {"security.protocol": "SASL_SSL", "sasl.password": "a=b"}
    )
    settings = source.client_settings()
    assert settings["sasl.password"] == "a=b"
    assert settings["bootstrap.servers"] == "one:9092,two:9092"
    assert settings["isolation.level"] == "read_committed"
    assert "a=b" not in repr(source)


def test_without_a_topic_nothing_is_read():
    assert parse_arguments(["--data", "data"]).kafka is None


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("security.protocol", "line 1: write it as name=value"),
        ("\n=x", "line 2: write it as name=value"),
        ("enable.auto.commit=true", "the service sets enable.auto.commit"),
        (None, "cannot read"),
    ],
)
def test_unusable_files_are_refused_with_their_cause(tmp_path, content, cause):
    file = tmp_path / "client.properties"
    if content is not None:
        file.write_text(content)
    with pytest.raises(KafkaSourceError, match=cause):
        read_client_config(file)


@pytest.mark.parametrize(
    "given",
    [["--kafka-topic", "t"], ["--publish-topic", "t"], ["--kafka-servers", "s:1"], ["--kafka-config", "f"]],
)
def test_topic_and_servers_belong_together(given, capsys):
    with pytest.raises(SystemExit):
        parse_arguments(["--data", "data", *given])
    assert "require --kafka-servers, and --kafka-topic to read or --publish-topic" in capsys.readouterr().err


def test_a_topic_is_not_read_and_published_to(capsys):
    """Each published event would be read again, as a duplicate."""
    with pytest.raises(SystemExit):
        parse_arguments(
            ["--data", "data", "--kafka-servers", "s:1", "--kafka-topic", "events", "--publish-topic", "events"]
        )
    assert "are both 'events'; publish to another topic" in capsys.readouterr().err


def test_the_publisher_has_its_own_topic_and_the_same_brokers(tmp_path):
    given = ["--publish-topic", "history", "--kafka-servers", "one:9092"]
    settings = parse_arguments(["--data", "data", *given])
    assert settings.kafka is None
    assert settings.publish == KafkaTarget("history", "one:9092", {})
    producer = settings.publish.producer_settings(1000)
    assert (producer["transactional.id"], producer["bootstrap.servers"]) == ("lineage-service-history", "one:9092")
    assert producer["message.max.bytes"] > 2000, "quotes of an event are escaped"

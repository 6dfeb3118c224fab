# SPDX-License-Identifier: Apache-2.0
"""Settings of the topic that events are read from."""

import pytest

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


@pytest.mark.parametrize("given", [["--kafka-topic", "t"], ["--kafka-servers", "s:1"], ["--kafka-config", "f"]])
def test_topic_and_servers_belong_together(given, capsys):
    with pytest.raises(SystemExit):
        parse_arguments(["--data", "data", *given])
    assert "requires both --kafka-topic and --kafka-servers" in capsys.readouterr().err

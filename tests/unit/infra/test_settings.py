# SPDX-License-Identifier: Apache-2.0
"""Stack configuration: defaults, types and error messages."""

import json

import pytest

from infra.catalog import LabSettings, check_settings
from infra.cli import stack_file
from infra.errors import SettingsError
from infra.settings import duration_seconds, known_keys, parse_pulumi_config, parse_settings


def test_empty_configuration_yields_defaults():
    assert parse_settings({}, LabSettings) == LabSettings()


def test_parse_values_from_text():
    settings = parse_settings({"portOffset": "1000", "shopRate": "2.5", "sparkMaster": "local[1]"}, LabSettings)
    assert (settings.port_offset, settings.shop_rate, settings.spark_master) == (1000, 2.5, "local[1]")


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False)])
def test_parse_boolean(text, value):
    assert parse_settings({"marquez": text}, LabSettings).marquez is value


def test_path_is_not_modified():
    assert parse_settings({"marquezJar": "jars/marquez.jar"}, LabSettings).marquez_jar == "jars/marquez.jar"
    assert parse_settings({"marquezJar": ""}, LabSettings).marquez_jar == ""


def test_reject_misspelled_key_with_suggestion():
    with pytest.raises(SettingsError, match="unknown key lineage-lab:portOfset; did you mean lineage-lab:portOffset"):
        parse_settings({"portOfset": "1"}, LabSettings)


def test_reject_snake_case_key():
    with pytest.raises(SettingsError, match="unknown key lineage-lab:port_offset"):
        parse_settings({"port_offset": "1"}, LabSettings)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("portOffset", "-1"),
        ("portOffset", "80000"),
        ("portOffset", "many"),
        ("portOffset", "true"),
        ("marquez", "yes"),
        ("marquez", "1"),
        ("marquez", ""),
        ("target", "moon"),
        ("shopErrorRate", "2"),
        ("sparkMaster", "mesos://x"),
        ("spark", "yarn"),
        ("etlTrigger", "5"),
        ("etlTrigger", "0s"),
        ("etlLateAfter", ""),
        ("maintenanceEvery", "1 h"),
    ],
)
def test_report_key_of_invalid_value(key, value):
    with pytest.raises(SettingsError, match=rf"lineage-lab:{key} = {value}"):
        parse_settings({key: value}, LabSettings)


def test_report_all_errors_together():
    with pytest.raises(SettingsError) as raised:
        parse_settings({"portOffset": "x", "shopRat": "1"}, LabSettings)
    assert "portOffset" in str(raised.value)
    assert "did you mean lineage-lab:shopRate" in str(raised.value)


def test_ignore_configuration_of_other_namespaces():
    environment = {"PULUMI_CONFIG": json.dumps({"lineage-lab:portOffset": "7", "aws:region": "x"})}
    assert parse_pulumi_config(environment, LabSettings).port_offset == 7
    assert parse_pulumi_config({}, LabSettings) == LabSettings()


@pytest.mark.parametrize("key", ["lineage-labs:flink", "lineagelab:flink", "Lineage-Lab:flink", "lineage_lab:flink"])
def test_a_misspelled_namespace_is_an_error_with_the_right_one(key):
    with pytest.raises(SettingsError, match=rf"{key} \(did you mean lineage-lab:flink\?\)"):
        parse_pulumi_config({"PULUMI_CONFIG": json.dumps({key: "false"})}, LabSettings)


def test_the_highest_port_limits_the_offset():
    check_settings(LabSettings(port_offset=65535 - 18080))
    with pytest.raises(SettingsError, match=r"portOffset = 47456 moves port 18080 .* the highest offset is 47455"):
        check_settings(LabSettings(port_offset=65536 - 18080))


def test_every_key_has_description():
    assert all(description for _, description in known_keys(LabSettings).values())
    assert "portOffset" in known_keys(LabSettings)


def test_read_settings_from_stack_file(tmp_path, monkeypatch):
    monkeypatch.setattr(stack_file, "PROJECT", tmp_path)
    text = "config:\n  lineage-lab:marquez: true\n  lineage-lab:marquezJar:\n  lineage-lab:portOffset: 7\n"
    (tmp_path / "Pulumi.one.yaml").write_text(text)
    assert stack_file.stack_settings("one") == LabSettings(marquez=True, port_offset=7)
    assert stack_file.stack_settings("none") == LabSettings()


def test_keys_of_the_project_file_are_defaults_of_the_stacks(tmp_path, monkeypatch):
    monkeypatch.setattr(stack_file, "PROJECT", tmp_path)
    declared = "  flink:\n    type: boolean\n    default: false\n  lineage-lab:portOffset: 7\n  shopRate: 3\n"
    (tmp_path / "Pulumi.yaml").write_text(f"name: lineage-lab\nconfig:\n{declared}  aws:region: x\n")
    (tmp_path / "Pulumi.one.yaml").write_text("config:\n  lineage-lab:shopRate: 4\n")
    assert stack_file.stack_settings("one") == LabSettings(flink=False, port_offset=7, shop_rate=4)
    assert stack_file.stack_settings("none") == LabSettings(flink=False, port_offset=7, shop_rate=3)


def test_a_lab_with_a_misspelled_namespace_stays_removable(tmp_path, monkeypatch):
    monkeypatch.setattr(stack_file, "PROJECT", tmp_path)
    (tmp_path / "Pulumi.one.yaml").write_text("config:\n  lineage-labs:flink: false\n  lineage-lab:target: docker\n")
    assert stack_file.stack_target("one") == "docker"
    with pytest.raises(SettingsError, match=r"did you mean lineage-lab:flink"):
        stack_file.stack_settings("one")


def test_a_block_that_is_no_mapping_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(stack_file, "PROJECT", tmp_path)
    (tmp_path / "Pulumi.one.yaml").write_text("config: [flink]\n")
    with pytest.raises(SettingsError, match=r"Pulumi\.one\.yaml: `config` must be a mapping"):
        stack_file.stack_settings("one")


def test_convert_durations_to_duration_seconds():
    assert [duration_seconds(text) for text in ("5s", "2m", "1h", "30d")] == [5, 120, 3600, 2_592_000]


def test_empty_maintenance_interval_disables_schedule():
    assert parse_settings({"maintenanceEvery": ""}, LabSettings).maintenance_every == ""

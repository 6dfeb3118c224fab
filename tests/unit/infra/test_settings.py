# SPDX-License-Identifier: Apache-2.0
"""Configuration: defaults, types, and what a user is told about a mistake."""

import json

import pytest

from infra.catalog import LabSettings
from infra.cli import stack_file
from infra.errors import SettingsError
from infra.settings import known_keys, seconds, settings_from, settings_from_pulumi


def test_no_configuration_is_the_default_lab():
    assert settings_from({}, LabSettings) == LabSettings()


def test_values_arrive_as_text_and_leave_typed():
    settings = settings_from({"portOffset": "1000", "shopRate": "2.5", "sparkMaster": "local[1]"}, LabSettings)
    assert (settings.port_offset, settings.shop_rate, settings.spark_master) == (1000, 2.5, "local[1]")


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False)])
def test_a_truth_value_is_true_or_false_as_pulumi_writes_it(text, value):
    assert settings_from({"marquez": text}, LabSettings).marquez is value


def test_a_path_stays_the_text_it_is():
    assert settings_from({"marquezJar": "jars/marquez.jar"}, LabSettings).marquez_jar == "jars/marquez.jar"
    assert settings_from({"marquezJar": ""}, LabSettings).marquez_jar == ""


def test_a_mistyped_key_is_refused_with_the_nearest_right_one():
    with pytest.raises(SettingsError, match=r"lineage-lab:portOfset is not a key.*did you mean portOffset"):
        settings_from({"portOfset": "1"}, LabSettings)


def test_a_python_spelling_is_no_key():
    with pytest.raises(SettingsError, match="port_offset is not a key"):
        settings_from({"port_offset": "1"}, LabSettings)


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
def test_a_value_that_makes_no_sense_is_named_with_its_key(key, value):
    with pytest.raises(SettingsError, match=rf"lineage-lab:{key} = {value}"):
        settings_from({key: value}, LabSettings)


def test_all_mistakes_are_told_at_once():
    with pytest.raises(SettingsError) as raised:
        settings_from({"portOffset": "x", "shopRat": "1"}, LabSettings)
    assert "portOffset" in str(raised.value)
    assert "did you mean shopRate" in str(raised.value)


def test_other_packages_configuration_is_none_of_ours():
    environment = {"PULUMI_CONFIG": json.dumps({"lineage-lab:portOffset": "7", "aws:region": "x"})}
    assert settings_from_pulumi(environment, LabSettings).port_offset == 7
    assert settings_from_pulumi({}, LabSettings) == LabSettings()


def test_every_key_is_documented():
    assert all(description for _, description in known_keys(LabSettings).values())
    assert "portOffset" in known_keys(LabSettings)


def test_the_stacks_file_is_read_as_pulumi_reads_it(tmp_path, monkeypatch):
    monkeypatch.setattr(stack_file, "PROJECT", tmp_path)
    text = "config:\n  lineage-lab:marquez: true\n  lineage-lab:marquezJar:\n  lineage-lab:portOffset: 7\n"
    (tmp_path / "Pulumi.one.yaml").write_text(text)
    assert stack_file.stack_settings("one") == LabSettings(marquez=True, port_offset=7)
    assert stack_file.stack_settings("none") == LabSettings()


def test_durations_are_whole_numbers_with_a_unit():
    assert [seconds(text) for text in ("5s", "2m", "1h", "30d")] == [5, 120, 3600, 2_592_000]


def test_maintenance_can_be_left_to_the_user():
    assert settings_from({"maintenanceEvery": ""}, LabSettings).maintenance_every == ""

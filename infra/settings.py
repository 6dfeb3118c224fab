# SPDX-License-Identifier: Apache-2.0
"""The stack's configuration, typed. Unknown keys are refused, with the nearest known one named.

Every key is written `lineage-lab:KEY` in `Pulumi.<stack>.yaml`, or set with `pulumi config set KEY VALUE`.
"""

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, Literal, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model
from pydantic.alias_generators import to_camel

from infra.errors import SettingsError
from infra.project import NAME

DURATION = r"^[1-9]\d*[smhd]$"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(duration: str) -> int:
    """The seconds of a duration as settings have it: `90s`, `5m`, `12h`, `30d`."""
    return int(duration[:-1]) * _UNITS[duration[-1]]


def _truth(value: object) -> object:
    """Pulumi's text for a truth value; pydantic alone would take `1`, `on` and `yes` too."""
    known = {"true": True, "false": False, True: True, False: False}
    if isinstance(value, str | bool) and value in known:
        return known[value]
    raise ValueError("must be true or false")


Switch = Annotated[bool, BeforeValidator(_truth)]
"""A setting that is true or false."""

S = TypeVar("S", bound="SettingsSection")


class SettingsSection(BaseModel):
    """Configuration keys of one part of the lab; the descriptions are the documentation (`lab doctor --settings`).

    The service that a key belongs to declares it (`infra.services.definition`), and reads it with `Settings.section`.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )


class Settings(SettingsSection):
    """Settings of a stack: keys of the lab itself, and those that its services add (`infra.catalog.LabSettings`)."""

    target: Literal["local", "docker"] = Field(
        "local", description="where the lab runs: local, processes of this machine; docker, containers"
    )
    base_image: str = Field(
        "debian:bookworm-slim", min_length=1, description="with target docker: base of the lab's images"
    )
    port_offset: int = Field(
        0, ge=0, le=50000, description="added to every conventional port, so that several labs fit on a machine"
    )
    preflight: Literal["strict", "warn"] = Field(
        "strict", description="strict: refuse to start with too little memory or disk; warn: print a warning only"
    )

    def section(self, section: type[S]) -> S:
        """Return these settings as the section that a service has declared.

        Raises:
            TypeError: no service of the lab has declared the section.
        """
        if not isinstance(self, section):
            raise TypeError(f"the lab has no settings section {section.__name__}")
        return self


def composed(sections: Iterable[type[SettingsSection]]) -> type[Settings]:
    """Return the settings type of a lab whose services have declared `sections`."""
    bases = (Settings, *dict.fromkeys(sections))
    return create_model("LabSettings", __base__=cast("tuple[type[Settings], ...]", bases))


def settings_from(config: Mapping[str, str], model: type[Settings]) -> Settings:
    """Settings from configuration by bare key (`portOffset`), every value as the text that Pulumi holds.

    Raises:
        SettingsError: a key is unknown or a value makes no sense; all of them are named at once.
    """
    try:
        return model.model_validate({key: _value(text) for key, text in config.items()}, by_name=False)
    except ValidationError as error:
        problems = "\n".join(f"  {NAME}:{_explain(item, config, model)}" for item in error.errors())
        raise SettingsError(
            f"the stack's configuration cannot be used:\n{problems}\n"
            "Correct Pulumi.<stack>.yaml; `bin/lab doctor --settings` lists every key"
        ) from error


def settings_from_pulumi(environment: Mapping[str, str], model: type[Settings]) -> Settings:
    """Settings from the variable in which Pulumi's language host hands the configuration to a program.

    The SDK's `Config` can only be asked for keys that one knows; a typo would pass in silence.

    Raises:
        SettingsError: as `settings_from`.
    """
    everything: dict[str, str] = json.loads(environment.get("PULUMI_CONFIG", "{}"))
    prefix = f"{NAME}:"
    return settings_from(
        {key.removeprefix(prefix): value for key, value in everything.items() if key.startswith(prefix)}, model
    )


def known_keys(model: type[Settings]) -> dict[str, tuple[object, str]]:
    """Each key with its default and its description."""
    return {str(field.alias): (field.default, str(field.description)) for field in model.model_fields.values()}


def _value(text: str) -> object:
    """Pulumi keeps every value as text; a number is meant as one. Truth values stay text (`_truth`)."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text


def _explain(item: Mapping[str, object], config: Mapping[str, str], model: type[Settings]) -> str:
    location = item["loc"]
    key = str(location[0]) if isinstance(location, tuple) and location else "?"
    if item["type"] == "extra_forbidden":
        near = get_close_matches(key, known_keys(model), n=1, cutoff=0.5)
        return f"{key} is not a key of the lab" + (f"; did you mean {near[0]}?" if near else "")
    return f"{key} = {config.get(key)}: {item['msg']}"

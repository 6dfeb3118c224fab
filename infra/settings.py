# SPDX-License-Identifier: Apache-2.0
"""Typed configuration of a stack. Unknown keys are rejected with a suggestion.

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
PLAIN, TLS = "plain", "tls"
"""Values of `Settings.security`."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def duration_seconds(duration: str) -> int:
    """Convert a duration setting (`90s`, `5m`, `12h`, `30d`) to seconds."""
    return int(duration[:-1]) * _UNITS[duration[-1]]


def _parse_boolean(value: object) -> object:
    """Parse a boolean as Pulumi spells it; pydantic alone would also accept `1`, `on` and `yes`."""
    known = {"true": True, "false": False, True: True, False: False}
    if isinstance(value, str | bool) and value in known:
        return known[value]
    raise ValueError("must be true or false")


BooleanSetting = Annotated[bool, BeforeValidator(_parse_boolean)]
"""Type of a boolean setting."""

S = TypeVar("S", bound="SettingsSection")


class SettingsSection(BaseModel):
    """Configuration keys of one part of the lab; `lab doctor --settings` prints the descriptions.

    The service that a key belongs to declares it (`infra.services.definition`), and reads it with `Settings.section`.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )


class Settings(SettingsSection):
    """Settings of a stack: keys of the lab itself, and those that its services add (`infra.catalog.LabSettings`)."""

    target: Literal["local", "docker", "kubernetes"] = Field(
        "local",
        description="where the lab runs: local, processes of this machine; docker, containers; kubernetes, pods",
    )
    profile: Literal["full", "connect"] = Field(
        "full",
        description="full: the whole lakehouse; connect: Kafka Connect and what it needs, no Spark, no Flink",
    )
    base_image: str = Field(
        "debian:bookworm-slim", min_length=1, description="with target docker or kubernetes: base of the lab's images"
    )
    kubernetes_context: str = Field(
        "", description="with target kubernetes: context of the kubeconfig that the lab may be deployed to; required"
    )
    kubernetes_server: str = Field(
        "", description="URL that the context's API server must have, as a second safeguard; empty: any"
    )
    kubernetes_namespace: str = Field(
        "",
        pattern=r"^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$",
        description="namespace of the lab, which it creates and removes; empty: lineage-lab-STACK",
    )
    image_registry: str = Field(
        "", description="registry and path of the lab's images, HOST/PATH; empty: images that the nodes have"
    )
    image_tag: str = Field("", description="tag of the lab's images in the registry; empty: the hash of their contents")
    image_pull_secret: str = Field("", description="Secret with the registry's credentials, in the lab's namespace")
    storage_class: str = Field("", description="storage class of the volumes; empty: the cluster's default class")
    port_offset: int = Field(
        0, ge=0, le=65535, description="added to every conventional port, so that several labs fit on a machine"
    )
    security: Literal["plain", "tls"] = Field(
        "plain",
        description="plain: no encryption, on loopback; tls: TLS with a generated authority, and in Kafka users with "
        "their own passwords and rights; fixed once created",
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


def compose_settings(sections: Iterable[type[SettingsSection]]) -> type[Settings]:
    """Return the settings type of a lab whose services have declared `sections`."""
    bases = (Settings, *dict.fromkeys(sections))
    return create_model("LabSettings", __base__=cast("tuple[type[Settings], ...]", bases))


def parse_settings(config: Mapping[str, str], model: type[Settings]) -> Settings:
    """Parse settings from keys without namespace (`portOffset`) and values as Pulumi stores them, as text.

    Raises:
        SettingsError: lists every unknown key and invalid value.
    """
    try:
        return model.model_validate({key: _parse_value(text) for key, text in config.items()}, by_name=False)
    except ValidationError as error:
        problems = "\n".join(f"  {_error_line(item, config, model)}" for item in error.errors())
        raise SettingsError(
            f"the stack's configuration cannot be used:\n{problems}\n"
            "Correct Pulumi.<stack>.yaml; `bin/lab doctor --settings` lists every key"
        ) from error


def parse_pulumi_config(environment: Mapping[str, str], model: type[Settings]) -> Settings:
    """Parse settings from PULUMI_CONFIG, the variable that Pulumi's language host sets for the program.

    The SDK's `Config` only looks up known keys, so it would not detect a misspelled one.

    Raises:
        SettingsError: as `parse_settings`.
    """
    return parse_settings(lab_config(json.loads(environment.get("PULUMI_CONFIG", "{}"))), model)


def lab_config(config: Mapping[str, str]) -> dict[str, str]:
    """Return the lab's keys of a Pulumi configuration, without their namespace.

    Raises:
        SettingsError: a namespace is almost the lab's; Pulumi would ignore such a key without a word.
    """
    misspelled = [key for key in config if _is_misspelled(key.partition(":")[0])]
    if misspelled:
        corrected = ", ".join(f"{key} (did you mean {NAME}:{key.partition(':')[2]}?)" for key in misspelled)
        raise SettingsError(
            f"the stack's configuration has keys of unknown namespaces: {corrected}. Correct Pulumi.<stack>.yaml"
        )
    return lab_keys(config)


def lab_keys(config: Mapping[str, str]) -> dict[str, str]:
    """Return the lab's keys of a Pulumi configuration as `lab_config` does, without looking at the others."""
    prefix = f"{NAME}:"
    return {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}


def _is_misspelled(namespace: str) -> bool:
    return namespace != NAME and bool(get_close_matches(namespace.lower(), [NAME], cutoff=0.8))


def known_keys(model: type[Settings]) -> dict[str, tuple[object, str]]:
    """Return key -> (default, description) for every known key."""
    return {str(field.alias): (field.default, str(field.description)) for field in model.model_fields.values()}


def _parse_value(text: str) -> object:
    """Parse a number from Pulumi's text; other values remain text, booleans included (see `_parse_boolean`)."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text


def _error_line(item: Mapping[str, object], config: Mapping[str, str], model: type[Settings]) -> str:
    """Describe one of pydantic's errors in a line that names the key; an unknown key with the closest known one."""
    location = item["loc"]
    key = str(location[0]) if isinstance(location, tuple) and location else "?"
    if item["type"] == "extra_forbidden":
        near = get_close_matches(key, known_keys(model), n=1, cutoff=0.5)
        return f"unknown key {NAME}:{key}" + (f"; did you mean {NAME}:{near[0]}?" if near else "")
    return f"{NAME}:{key} = {config.get(key)}: {item['msg']}"

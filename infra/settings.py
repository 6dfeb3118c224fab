# SPDX-License-Identifier: Apache-2.0
"""The stack's configuration, typed. Unknown keys are refused, with the nearest known one named.

Every key is written `lineage-lab:KEY` in `Pulumi.<stack>.yaml`, or set with `pulumi config set KEY VALUE`.
"""

import json
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic.alias_generators import to_camel

from infra.errors import SettingsError
from infra.project import NAME

_DURATION = r"^[1-9]\d*[smhd]$"
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


class Settings(BaseModel):
    """What a user may choose. The descriptions are the documentation (`lab doctor --settings`)."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    target: Literal["local", "docker"] = Field(
        "local", description="where the lab runs: local, processes of this machine; docker, containers"
    )
    base_image: str = Field(
        "debian:bookworm-slim", min_length=1, description="with target docker: what the lab's images are built on"
    )
    port_offset: int = Field(
        0, ge=0, le=50000, description="added to every conventional port, so that several labs fit"
    )
    preflight: Literal["strict", "warn"] = Field(
        "strict", description="strict: refuse to start with too little memory or disk; warn: only say so"
    )
    shop_rate: float = Field(20, gt=0, le=5000, description="orders the shop writes per second")
    shop_seed: int = Field(7, ge=0, description="two shops with one seed write the same orders")
    shop_error_rate: float = Field(0.02, ge=0, le=1, description="share of orders with a broken price")
    shop_duplicate_rate: float = Field(0.02, ge=0, le=1, description="share of orders written twice")
    shop_late_rate: float = Field(0.05, ge=0, le=1, description="share of orders up to ten minutes late")
    shop_currency: Annotated[bool, BeforeValidator(_truth)] = Field(
        True, description="true: the shop writes the currency of orders too, wherever a table has that column"
    )
    topic_partitions: int = Field(3, ge=1, le=64, description="partitions of the topics orders and bids")
    kafka_heap_mib: int = Field(384, ge=128, description="largest heap of the Kafka broker, MiB")
    connect_heap_mib: int = Field(768, ge=256, description="largest heap of the Kafka Connect worker, MiB")
    schema_registry_heap_mib: int = Field(160, ge=96, description="largest heap of the schema registry, MiB")
    catalog_heap_mib: int = Field(192, ge=64, description="largest heap of the Iceberg catalog, MiB")
    spark_heap_mib: int = Field(768, ge=512, description="largest heap of a Spark driver, MiB")
    spark: Literal["local", "cluster"] = Field(
        "local",
        description="local: Spark jobs run inside their drivers; cluster: on a master and a worker of the lab's",
    )
    spark_master: str = Field(
        "", description="master URL of the Spark drivers, any cluster's; empty: local[2], or what spark says"
    )
    spark_worker_cores: int = Field(2, ge=2, le=1024, description="cores of the worker of spark: cluster")
    spark_worker_memory_mib: int = Field(2048, ge=1024, description="memory of that worker for executors, MiB")
    spark_history: Annotated[bool, BeforeValidator(_truth)] = Field(
        False, description="true: a Spark history server, which shows the batch jobs that have ended"
    )
    etl_trigger: str = Field("5s", pattern=_DURATION, description="how often orders_etl looks for new orders: 2s, 1m")
    etl_max_records: int = Field(50_000, ge=1, description="the most records that orders_etl takes at a time")
    etl_late_after: str = Field(
        "1h", pattern=_DURATION, description="orders_etl rejects orders that reach Kafka later than this: 10m, 1h"
    )
    maintenance_every: str = Field(
        "1h", pattern=rf"{_DURATION}|^$", description="how often lake_maintenance runs by itself: 30m, 1h; empty: never"
    )
    flink: Annotated[bool, BeforeValidator(_truth)] = Field(
        True, description="true: a Flink cluster with a SQL gateway, and the jobs that run there; false: nothing of it"
    )
    flink_heap_mib: int = Field(384, ge=256, description="largest heap of Flink's TaskManager, MiB")
    flink_slots: int = Field(
        4, ge=2, le=1024, description="slots of the TaskManager: a job takes as many as its parallelism"
    )
    flink_checkpoint_every: str = Field(
        "10s", pattern=_DURATION, description="how often Flink's jobs make a checkpoint, and commit to the lake: 5s, 1m"
    )
    flink_metrics: Annotated[bool, BeforeValidator(_truth)] = Field(
        False,
        description="true: Flink's metrics for Prometheus, on ports that every interface can reach: it knows no other",
    )
    lineage_retain: str = Field(
        "30d", pattern=_DURATION, description="age after which the lineage service compacts events: 12h, 30d"
    )
    marquez: Annotated[bool, BeforeValidator(_truth)] = Field(
        False,
        description="true: a Marquez beside the lineage service, fed by it, with a database of its own; with target "
        "docker its web page, too",
    )
    marquez_jar: str = Field(
        "",
        description="path of Marquez' API jar (with its dependencies); empty: with target local it is looked for with "
        "Maven, with docker the project's public images are run",
    )

    @property
    def features(self) -> frozenset[str]:
        """What is on of that which a lab may go without, in the words of the lineage contract (`requires`)."""
        return frozenset({"flink"} if self.flink else ())

    @field_validator("spark_master")
    @classmethod
    def _known_master(cls, value: str) -> str:
        if value and not value.startswith(("local", "spark://", "yarn", "k8s://")):
            raise ValueError("must be local[N], spark://HOST:PORT, yarn, k8s://URL, or empty")
        return value


def settings_from(config: Mapping[str, str]) -> Settings:
    """Settings from configuration by bare key (`portOffset`), every value as the text that Pulumi holds.

    Raises:
        SettingsError: a key is unknown or a value makes no sense; all of them are named at once.
    """
    try:
        return Settings.model_validate({key: _value(text) for key, text in config.items()}, by_name=False)
    except ValidationError as error:
        problems = "\n".join(f"  {NAME}:{_explain(item, config)}" for item in error.errors())
        raise SettingsError(
            f"the stack's configuration cannot be used:\n{problems}\n"
            "Correct Pulumi.<stack>.yaml; `bin/lab doctor --settings` lists every key"
        ) from error


def settings_from_pulumi(environment: Mapping[str, str]) -> Settings:
    """Settings from the variable in which Pulumi's language host hands the configuration to a program.

    The SDK's `Config` can only be asked for keys that one knows; a typo would pass in silence.

    Raises:
        SettingsError: as `settings_from`.
    """
    everything: dict[str, str] = json.loads(environment.get("PULUMI_CONFIG", "{}"))
    prefix = f"{NAME}:"
    return settings_from(
        {key.removeprefix(prefix): value for key, value in everything.items() if key.startswith(prefix)}
    )


def known_keys() -> dict[str, tuple[object, str]]:
    """Each key with its default and its description."""
    return {str(field.alias): (field.default, str(field.description)) for field in Settings.model_fields.values()}


def _value(text: str) -> object:
    """Pulumi keeps every value as text; a number is meant as one. Truth values stay text (`_truth`)."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text


def _explain(item: Mapping[str, object], config: Mapping[str, str]) -> str:
    location = item["loc"]
    key = str(location[0]) if isinstance(location, tuple) and location else "?"
    if item["type"] == "extra_forbidden":
        near = get_close_matches(key, known_keys(), n=1, cutoff=0.5)
        return f"{key} is not a key of the lab" + (f"; did you mean {near[0]}?" if near else "")
    return f"{key} = {config.get(key)}: {item['msg']}"

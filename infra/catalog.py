# SPDX-License-Identifier: Apache-2.0
"""Composition of the lab: every defined service, and the data pipeline."""

from pathlib import Path

from infra.errors import SettingsError
from infra.model import Address, Endpoint, Lab, Part, Site
from infra.project import NAME
from infra.services import lineage
from infra.services.connect import connectors, user_connectors
from infra.services.connect import worker as connect
from infra.services.dbt import settings as dbt_settings
from infra.services.dbt import task as dbt_task
from infra.services.definition import Draft, Pipeline
from infra.services.discovery import definitions
from infra.services.external import reject_loopback
from infra.services.flink import jobs as flink_jobs
from infra.services.flink import user_jars as flink_user_jars
from infra.services.flink import user_jobs as flink_user_jobs
from infra.services.flink import user_programs as flink_user_programs
from infra.services.forecast import settings as forecast_settings
from infra.services.forecast import task as forecast_task
from infra.services.lineage_history import settings as lineage_history_settings
from infra.services.lineage_history import sink as lineage_history_sink
from infra.services.shop import tables as shop_tables
from infra.services.spark import executors as spark_executors
from infra.services.spark import jobs as spark_jobs
from infra.services.spark import medallion as spark_medallion
from infra.services.spark import settings as spark_settings
from infra.services.spark import user_jobs as spark_user_jobs
from infra.settings import TLS, Settings, compose_settings
from infra.user_files import NO_USER_FILES, UserFiles

PIPELINE: tuple[Pipeline, ...] = (
    shop_tables.pipeline,
    connectors.pipeline,
    user_connectors.pipeline,
    lineage_history_sink.pipeline,
    spark_jobs.pipeline,
    dbt_task.pipeline,
    forecast_task.pipeline,
    flink_jobs.pipeline,
    flink_user_jobs.pipeline,
    flink_user_jars.pipeline,
    flink_user_programs.pipeline,
    spark_user_jobs.pipeline,
)
"""Parts of the data pipeline in build order; user jobs come last, so that they can need every other part."""

PIPELINE_SETTINGS = (
    shop_tables.TopicSettings,
    spark_settings.SparkSettings,
    spark_jobs.EtlSettings,
    spark_medallion.MedallionSettings,
    dbt_settings.DbtSettings,
    forecast_settings.ForecastSettings,
    lineage_history_settings.LineageHistorySettings,
)
"""Settings sections of the pipeline's parts."""

PIPELINE_CHECKS = (spark_executors.check,)
"""Checks of settings that no service declares."""

WITHOUT_TLS = frozenset({"airflow", "marquez", "sparkHistory", "sparkMaster", "trino"})
"""Settings whose services do not run with TLS, or were not tried; those of existing services begin with `external`."""

VALUES_WITHOUT_TLS = (("spark", "cluster"),)
"""Settings with values of which the same is true."""

MAX_PORT = 65535

LabSettings = compose_settings(
    (*(definition.settings for definition in definitions() if definition.settings), *PIPELINE_SETTINGS)
)
"""Settings type of a stack, with the keys of every defined service."""

ENDPOINTS: dict[str, tuple[Endpoint, ...]] = {definition.name: definition.endpoints for definition in definitions()}
"""Service name -> endpoints, for every defined service."""


def build_lab(site: Site, settings: Settings, files: UserFiles = NO_USER_FILES) -> Lab:
    """Build the lab: a pure function of site, settings and user files.

    Raises:
        UserFileError: a user file is invalid.
    """
    services = {
        definition.name: definition.build(site, settings)
        for definition in definitions()
        if definition.included(site, settings)
    }
    if connect.NAME in services:
        services[connect.NAME] = connect.connect_service(site, settings, files.plugins)
    parts: tuple[Part, ...] = ()
    for definition in definitions():
        if service := services.get(definition.name):
            parts += (definition.complete(service, site, settings, services), *definition.resources(site, settings))
        elif definition.external and definition.name in site.external:
            parts += (definition.external.check(site), *definition.resources(site, settings))
    for add in PIPELINE:
        parts += tuple(add(Draft(site, settings, files, parts, frozenset(ENDPOINTS))))
    return Lab(()).with_parts(tuple(lineage.with_emitter_environment(part, settings) for part in parts))


def check_settings(settings: Settings) -> None:
    """Validate the ports, and files on this machine that the settings refer to.

    Raises:
        LabError: a port is too high; a file is missing or invalid.
    """
    _check_port_offset(settings)
    _check_security(settings)
    for definition in definitions():
        if definition.requested(settings):
            definition.check(settings)
        if definition.external and (address := definition.external_address(settings)):
            reject_loopback(settings, definition.external.setting, address.each)
    for check in PIPELINE_CHECKS:
        check(settings)


def _check_port_offset(settings: Settings) -> None:
    service, highest = max(
        ((name, endpoint.port) for name, endpoints in ENDPOINTS.items() for endpoint in endpoints), key=lambda it: it[1]
    )
    if highest + settings.port_offset > MAX_PORT:
        raise SettingsError(
            f"{NAME}:portOffset = {settings.port_offset} moves port {highest} of {service} beyond {MAX_PORT}; "
            f"the highest offset is {MAX_PORT - highest}"
        )


def _check_security(settings: Settings) -> None:
    """Raise SettingsError if TLS is wanted where it is not available."""
    if settings.security != TLS:
        return
    values = {
        str(field.alias): (getattr(settings, name), field.default)
        for name, field in type(settings).model_fields.items()
    }
    found = sorted(key for key, (value, default) in values.items() if value != default and not _has_tls(key, value))
    if found:
        names = ", ".join(f"{NAME}:{key}" for key in found)
        raise SettingsError(f"{NAME}:security is tls, which these settings cannot be combined with yet: {names}")


def _has_tls(key: str, value: object) -> bool:
    """Return whether a setting with a value that is not its default can be combined with TLS."""
    return not (key in WITHOUT_TLS or (key, value) in VALUES_WITHOUT_TLS or key.startswith("external"))


def certified_services(settings: Settings) -> tuple[str, ...]:
    """Return the services that get a certificate in a lab with TLS."""
    return tuple(
        definition.name
        for definition in definitions()
        if definition.requested(settings) and any(endpoint.tls for endpoint in definition.endpoints)
    )


def external_services(settings: Settings) -> dict[str, Address]:
    """Return the existing services that replace services of the lab: name -> address."""
    found = {definition.name: definition.external_address(settings) for definition in definitions()}
    return {name: address for name, address in found.items() if address}


def external_credentials(settings: Settings) -> dict[str, str]:
    """Return the credentials that the user provides: name -> key of the setting that requires it."""
    return {
        name: definition.external.setting
        for definition in definitions()
        if definition.external and definition.external_address(settings)
        for name in definition.external.credentials
    }


def secret_files(settings: Settings) -> dict[str, Path]:
    """Return the JSON files of the user that hold a credential: name of the credential -> path."""
    found: dict[str, Path] = {}
    for definition in definitions():
        if definition.requested(settings):
            found |= definition.secret_files(settings)
    return found


def components(settings: Settings) -> frozenset[str]:
    """Return the toolchain artefacts that a lab with these settings requires."""
    return frozenset(
        name for definition in definitions() if definition.requested(settings) for name in definition.components
    )


def optional_components(settings: Settings) -> dict[str, str]:
    """Return the optional artefacts, name -> remedy; a service whose artefact is missing is left out."""
    found: dict[str, str] = {}
    for definition in definitions():
        if definition.requested(settings):
            found |= definition.optional_components(settings)
    return found


def left_out(site: Site, settings: Settings) -> dict[str, str]:
    """Return the enabled services that cannot run here: name -> reason and remedy, in one line."""
    reasons = {
        definition.name: definition.unavailable(site, settings)
        for definition in definitions()
        if definition.requested(settings)
    }
    return {name: reason for name, reason in reasons.items() if reason}

# SPDX-License-Identifier: Apache-2.0
"""User-defined connectors: files in `jobs/connect/` with placeholders for names of the lab. Pure functions.

`@{topic.orders}` is replaced by a name or an address of the lab (`placeholders`); `@@{` is an escaped `@{`. Connect's
`${provider:key}` and `$1` are passed through.
"""

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from infra.model import Connector, Part, Site
from infra.model.secret_options import has_password_in_url, is_reference, is_secret, references
from infra.namespaces import ARCHIVE_BUCKET, CATALOG_NAME, RAW_TABLES, SALES_TABLES, SHOP_TOPICS, WAREHOUSE_BUCKET
from infra.services import iceberg_catalog, kafka, lineage, object_store, postgres, schema_registry
from infra.services.connect import connectors
from infra.services.connect import worker as connect
from infra.services.definition import Draft
from infra.settings import Settings
from infra.user_files import CONNECTOR_FOLDER, CONNECTOR_SUFFIX, UserFileError

CLASS_OPTION = "connector.class"

ICEBERG_SINK = "IcebergSinkConnector"
"""Simple class name of Iceberg's sink."""

CONTROL_TOPIC = "iceberg.control.topic"
DEFAULT_CONTROL_TOPIC = "control-iceberg"
"""Topic through which the tasks of an Iceberg sink agree on commits. The sink requires it to exist."""

_FILE_CLASSES = ("FileStreamSource", "FileStreamSink")
"""Kafka's connectors that read and write files: simple class names without the suffix, which may be left out."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_PLACEHOLDER = re.compile(r"@@\{|@\{([^{}]*)\}?")


def placeholders(site: Site) -> dict[str, str]:
    """Return placeholder -> value."""
    server = site.address(postgres.NAME, postgres.SQL.name)
    addresses = {
        "schema_registry": site.address(schema_registry.NAME, schema_registry.API.name).url,
        "iceberg_catalog": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        "s3": site.address(object_store.NAME, object_store.S3.name).url,
        "lineage": site.address(lineage.NAME, lineage.API.name).url,
        "kafka": str(site.address(kafka.NAME, kafka.BROKER.name)),
        "postgres.host": server.host,
        "postgres.port": str(server.port),
        "postgres.user": postgres.user(site),
    }
    return {
        **addresses,
        "catalog": CATALOG_NAME,
        **_placeholders_of("topic", SHOP_TOPICS),
        **_placeholders_of("table", (*SALES_TABLES, *RAW_TABLES.values())),
        **_placeholders_of("bucket", (WAREHOUSE_BUCKET, ARCHIVE_BUCKET)),
        **_placeholders_of("database", (postgres.SHOP, iceberg_catalog.DATABASE)),
        **{f"secret.{name}": connect.secret(name) for name in connect.SECRETS},
    }


def user_connectors(files: Mapping[str, str], site: Site, settings: Settings) -> tuple[Connector, ...]:
    """Parse connector files.

    Args:
        files: file name, `NAME.json` -> its text: a JSON object of options, or `{"name", "config"}`.
        site: site whose addresses replace placeholders.
        settings: settings of the stack, by which the worker offers connectors or not.

    Raises:
        UserFileError: a file is invalid; the message names the file and, if applicable, the option.
    """
    taken = {connector.name for connector in connectors.connectors(site)}
    known = placeholders(site)
    found = []
    for file in sorted(files):
        connector = _connector(file, files[file], site, known, taken)
        _require_file_connectors(file, connector, settings)
        found.append(connector)
    return tuple(found)


def _require_file_connectors(file: str, connector: Connector, settings: Settings) -> None:
    """Raise UserFileError for a connector of Kafka's that reads or writes files, unless the worker offers them."""
    chosen = connector.config[CLASS_OPTION].rpartition(".")[2].removesuffix("Connector")
    if chosen in _FILE_CLASSES and connect.FILE_CONNECTORS not in connect.plugins(settings):
        raise _file_error(
            file,
            f"{CLASS_OPTION} is {chosen}, which the worker does not offer by default, as it reads and writes every "
            "file of the worker; run `pulumi config set lineage-lab:connectFileConnectors true`",
        )


def _connector(file: str, text: str, site: Site, known: Mapping[str, str], taken: set[str]) -> Connector:
    name = file.removesuffix(CONNECTOR_SUFFIX)
    if not _NAME.fullmatch(name):
        raise _file_error(file, "the file name is the connector's name; use letters, digits, '-', '_' and '.' only")
    if name in taken:
        raise _file_error(file, f"the lab already has a connector {name}; rename the file")
    options = _options_of(file, name, _parse_json(file, text))
    config = {option: _resolve_value(file, option, value, known) for option, value in options.items()}
    if not config.get(CLASS_OPTION):
        raise _file_error(
            file, f"{CLASS_OPTION} is missing; set it to the class of the connector, such as IcebergSinkConnector"
        )
    needs = tuple(f"topic/{topic}" for topic in _control_topic(config))
    return connect.connector(site, name, config, (*_placeholder_needs(), *needs))


def _control_topic(config: Mapping[str, str]) -> tuple[str, ...]:
    """Return the control topic of an Iceberg sink; empty for another connector."""
    is_sink = config.get(CLASS_OPTION, "").rpartition(".")[2] == ICEBERG_SINK
    return (config.get(CONTROL_TOPIC) or DEFAULT_CONTROL_TOPIC,) if is_sink else ()


def _parse_json(file: str, text: str) -> Any:  # noqa: ANN401
    def unique_options(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if duplicates := sorted({key for key in keys if keys.count(key) > 1}):
            raise _file_error(file, f"duplicate option {', '.join(duplicates)}")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=unique_options)
    except json.JSONDecodeError as error:
        raise _file_error(file, f"line {error.lineno}, column {error.colno}: invalid JSON: {error.msg}") from error


def _options_of(file: str, name: str, found: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the options from either form that Connect's REST API accepts."""
    if isinstance(found, dict) and isinstance(found.get("config"), dict):
        if unknown := sorted(found.keys() - {"name", "config"}):
            raise _file_error(file, f"unknown key {', '.join(unknown)}; known keys: name, config")
        found = {"name": found.get("name", name), **found["config"]}
    if not isinstance(found, dict):
        raise _file_error(file, "expected a JSON object of options")
    if found.get("name", name) != name:
        raise _file_error(file, f"name is {found['name']}, but must equal the file name: {name}")
    return {option: value for option, value in found.items() if option != "name"}


def _resolve_value(file: str, option: str, value: Any, known: Mapping[str, str]) -> str:  # noqa: ANN401
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise _file_error(file, f"{option}: expected text, a number or a boolean, not {json.dumps(value)}")
    text = _PLACEHOLDER.sub(lambda match: _placeholder_value(file, option, match, known), value)
    if has_password_in_url(text) or (text and is_secret(option) and not is_reference(text)):
        references_to_secrets = ", ".join(f"@{{secret.{name}}}" for name in connect.SECRETS)
        raise _file_error(file, f"{option}: literal secrets are not allowed; use one of {references_to_secrets}")
    for provider, key in references(text):
        if provider != connect.PROVIDER or key not in connect.SECRETS:
            available = ", ".join(connect.secret(name) for name in connect.SECRETS)
            raise _file_error(
                file, f"{option}: unknown reference ${{{provider}:{key}}}; the worker provides {available}"
            )
    return text


def _placeholder_value(file: str, option: str, match: re.Match[str], known: Mapping[str, str]) -> str:
    name = match.group(1)
    if name is None:
        return "@{"
    if not match.group().endswith("}"):
        raise _file_error(file, f"{option}: unterminated placeholder {match.group()}")
    if name not in known:
        near = get_close_matches(name, known, n=1)
        guess = f"; did you mean @{{{near[0]}}}?" if near else "."
        raise _file_error(
            file, f"{option}: unknown placeholder @{{{name}}}{guess} Known placeholders: {', '.join(sorted(known))}"
        )
    return known[name]


def _placeholder_needs() -> tuple[str, ...]:
    """Return the keys of all parts that placeholders can refer to."""
    return (
        *(f"topic/{topic}" for topic in SHOP_TOPICS),
        *(f"bucket/{bucket}" for bucket in (WAREHOUSE_BUCKET, ARCHIVE_BUCKET)),
        *(f"database/{database}" for database in (postgres.SHOP, iceberg_catalog.DATABASE)),
        *(schema_registry.NAME, iceberg_catalog.NAME, lineage.NAME),
    )


def _placeholders_of(kind: str, known: tuple[str, ...]) -> dict[str, str]:
    return {f"{kind}.{name}": name for name in known}


def _file_error(file: str, why: str) -> UserFileError:
    return UserFileError(f"{CONNECTOR_FOLDER}/{file}: {why}")


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the user's connectors, and the control topics that their Iceberg sinks require."""
    found = user_connectors(draft.files.connectors, draft.site, draft.settings)
    existing = {*SHOP_TOPICS, *(topic.name for topic in connectors.topics(draft.site, draft.settings.profile))}
    wanted = {topic for connector in found for topic in _control_topic(connector.config)}
    return (*(kafka.topic(draft.site, topic) for topic in sorted(wanted - existing)), *found)

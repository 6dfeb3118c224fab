# SPDX-License-Identifier: Apache-2.0
"""Names of tables in databases and search engines, by the options of their connectors. Pure.

Databases are named as OpenLineage's naming document does, so that CDC, JDBC and Debezium lead to one dataset.
"""

import re
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from lineagelab_flink.columns.planned import Table

Name = tuple[str, str]
"""Namespace and name of a dataset."""

_JDBC = {"postgresql": ("postgres", 5432), "mysql": ("mysql", 3306), "mariadb": ("mysql", 3306)}
"""Scheme of a JDBC URL -> scheme of the namespace, default port."""

_CDC = {
    "mysql-cdc": ("mysql", 3306),
    "postgres-cdc": ("postgres", 5432),
    "sqlserver-cdc": ("mssql", 1433),
    "oracle-cdc": ("oracle", 1521),
    "db2-cdc": ("db2", 50000),
}
"""CDC connector -> scheme of the namespace, default port."""

_WITHOUT_SCHEMAS = {"mysql"}
"""Schemes of databases whose tables are not in schemas."""

_SEARCH_ENGINES = re.compile(r"(elasticsearch|opensearch)(-\d+)?")
_SEARCH_PORT = 9200
_MONGODB_PORT = 27017

_IDENTIFIER = re.compile(r"[\w$.-]+")
"""Name without wildcards: CDC connectors take regular expressions, search engines patterns of time."""


def dataset(table: Table) -> Name | None:
    """Return the dataset of a table; None for another connector, missing options, or a pattern of names."""
    if table.connector == "jdbc":
        return _by_jdbc(table.options)
    if table.connector in _CDC:
        return _by_cdc(table.options, *_CDC[table.connector])
    if table.connector in {"mongodb", "mongodb-cdc"}:
        return _by_mongodb(table.options)
    engine = _SEARCH_ENGINES.fullmatch(table.connector)
    return _by_index(table.options, engine[1]) if engine else None


def _by_jdbc(options: Mapping[str, str]) -> Name | None:
    parts = urlsplit(options.get("url", "").removeprefix("jdbc:"))
    known = _JDBC.get(parts.scheme)
    if known is None or not parts.hostname or "table-name" not in options:
        return None
    scheme, port = known
    table = options["table-name"]
    if scheme == "postgres" and "." not in table:  # Debezium always states the schema
        schemas = parse_qs(parts.query).get("currentSchema", ["public"])[0]
        table = f"{schemas.split(',')[0].strip()}.{table}"
    return f"{scheme}://{parts.hostname}:{parts.port or port}", f"{parts.path.strip('/')}.{table}"


def _by_cdc(options: Mapping[str, str], scheme: str, port: int) -> Name | None:
    names = [options.get("database-name", ""), options.get("table-name", "")]
    if scheme not in _WITHOUT_SCHEMAS and "." not in names[1]:
        names.insert(1, options.get("schema-name", ""))
    if "hostname" not in options or not all(map(_IDENTIFIER.fullmatch, names)):
        return None
    return f"{scheme}://{options['hostname']}:{options.get('port', port)}", ".".join(names)


def _by_mongodb(options: Mapping[str, str]) -> Name | None:
    hosts = options.get("hosts") or urlsplit(options.get("uri", "")).netloc
    names = [options.get("database", ""), options.get("collection", "")]
    if not hosts or not all(map(_IDENTIFIER.fullmatch, names)):
        return None
    return f"mongodb://{_with_port(hosts.split(',')[0], _MONGODB_PORT)}", ".".join(names)


def _by_index(options: Mapping[str, str], scheme: str) -> Name | None:
    host = urlsplit(options.get("hosts", "").split(";")[0]).netloc
    index = options.get("index", "")
    is_named = host and _IDENTIFIER.fullmatch(index)
    return (f"{scheme}://{_with_port(host, _SEARCH_PORT)}", index) if is_named else None


def _with_port(host: str, port: int) -> str:
    return host if ":" in host else f"{host}:{port}"

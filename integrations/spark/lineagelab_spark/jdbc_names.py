# SPDX-License-Identifier: Apache-2.0
"""OpenLineage names of tables behind JDBC URLs. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class _Database:
    """Naming rules of one database: namespace scheme, default port, schema of unqualified tables."""

    scheme: str
    port: int
    schema: str = ""


_DATABASES = {
    "postgresql": _Database("postgres", 5432, "public"),
    "mysql": _Database("mysql", 3306),
    "mariadb": _Database("mysql", 3306),
    "redshift": _Database("redshift", 5439, "public"),
    "sqlserver": _Database("mssql", 1433, "dbo"),
    "trino": _Database("trino", 8080),
}

_QUOTES = re.compile(r'["`\[\]]')
_QUERY = re.compile(r"\s*\(|.*\s", re.DOTALL)


def table_name(url: str, table: str) -> tuple[str, str] | None:
    """Return namespace and name of a table; None if the URL's database is unknown or `table` is a query.

    `jdbc:postgresql://db/shop`, `orders` are `postgres://db:5432`, `shop.public.orders`.
    """
    kind, _, rest = url.removeprefix("jdbc:").partition(":")
    database = _DATABASES.get(kind)
    if database is None or _QUERY.match(table.strip()):
        return None
    address, name = _sql_server(rest) if kind == "sqlserver" else _address(rest)
    host, _, port = address.partition(":")
    words = [word for word in _QUOTES.sub("", table.strip()).split(".") if word]
    if not host or not words:
        return None
    if len(words) == 1 and database.schema:
        words.insert(0, database.schema)
    has_database = len(words) > (2 if database.schema else 1)
    qualified = words if has_database or not name else [name, *words]
    return f"{database.scheme}://{host}:{port or database.port}", ".".join(qualified)


def _address(rest: str) -> tuple[str, str]:
    parts = urlsplit(rest)
    return parts.netloc.rpartition("@")[2].split(",")[0], parts.path.strip("/")


def _sql_server(rest: str) -> tuple[str, str]:
    address, *properties = rest.removeprefix("//").split(";")
    given = dict(item.partition("=")[::2] for item in properties)
    return address, next((value for key, value in given.items() if key.casefold() in {"database", "databasename"}), "")

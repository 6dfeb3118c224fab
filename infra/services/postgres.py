# SPDX-License-Identifier: Apache-2.0
"""Postgres: one server for the databases of all services (`infra.model.Database`)."""

from pydantic import Field

from infra import credentials
from infra.model import (
    Address,
    Binary,
    Column,
    Database,
    Endpoint,
    ExternalPostgres,
    Prepare,
    Probe,
    Resource,
    Service,
    Site,
    Table,
    external_settings,
)
from infra.namespaces import JOB_ORDERS_SOURCE
from infra.services import tls
from infra.services.definition import EVERY_PROFILE, External, ServiceDefinition
from infra.services.external import DatabaseServerSetting, is_external, parse_database_server
from infra.settings import Settings, SettingsSection

NAME = "postgres"
COMPONENT = "postgres"
SQL = Endpoint("sql", 5432, published_as="postgres", tls=True)
ENDPOINTS = (SQL,)

USER = "postgres"
"""Superuser, and the only role of the lab's own server."""

MAINTENANCE_DATABASE = "postgres"
"""Database that initdb creates; clients connect to it to create or drop other databases."""

SHOP = "shop"
"""Database of the shop, whose changes are captured."""

CONFIG = "postgresql.conf"
ACCESS = "pg_hba.conf"
DATA = "data"
PASSWORD_VARIABLE = "POSTGRES_PASSWORD"


class PostgresSettings(SettingsSection):
    """Settings of Postgres."""

    external_postgres: DatabaseServerSetting = Field(
        "",
        description="existing Postgres server, [USER@]HOST:PORT, with wal_level=logical; password: "
        "LINEAGE_LAB_POSTGRES_PASSWORD in the environment of `up`; empty: the lab runs a server",
    )


def user(site: Site) -> str:
    """Return the role by which the lab logs in."""
    return site.address(NAME, SQL.name).user or USER


def database(site: Site, name: str) -> Database:
    """Return a database of the server."""
    server = site.address(NAME, SQL.name, "outside")
    return Database(
        name=name,
        host=server.host,
        port=server.port,
        user=user(site),
        credentials=site.client_credentials,
        maintenance=MAINTENANCE_DATABASE,
        authority=tls.client_authority(site),
        external=is_external(site, NAME),
        needs=(NAME,),
    )


def table(
    site: Site,
    database_name: str,
    name: str,
    columns: tuple[Column, ...],
    primary_key: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
) -> Table:
    """Return a table of one of the server's databases."""
    parent = database(site, database_name)
    return Table(
        name=name,
        host=parent.host,
        port=parent.port,
        user=parent.user,
        credentials=site.client_credentials,
        database=database_name,
        columns=columns,
        primary_key=primary_key,
        authority=parent.authority,
        external=parent.external,
        needs=(parent.key, *needs),
    )


def postgres_service(site: Site, settings: Settings) -> Service:
    """Return the server; its password is set at every start, so that rotated credentials apply to existing data."""
    cluster = f"{site.volume(NAME, DATA)}/cluster"
    config = ("-D", cluster, "-c", f"config_file={site.file(NAME, CONFIG)}")
    return Service(
        name=NAME,
        run=_program("postgres", *config),
        prepare=(
            Prepare(_initdb(f"{cluster}.new"), unless=cluster, staged=f"{cluster}.new"),
            Prepare(
                _program("postgres", "--single", *config, MAINTENANCE_DATABASE),
                stdin=f"ALTER ROLE {USER} PASSWORD '${PASSWORD_VARIABLE}';",
            ),
        ),
        endpoints=ENDPOINTS,
        ready=Probe(SQL.name),
        files={CONFIG: _config(site), ACCESS: _ENCRYPTED_ACCESS if site.tls else _ACCESS},
        volumes=(DATA,),
        secrets={PASSWORD_VARIABLE: credentials.POSTGRES_PASSWORD},
        memory_mib=160,
        stop_signal="INT",  # fast shutdown; SIGTERM would wait until every client has disconnected
    )


def _program(name: str, *args: str) -> Binary:
    return Binary(name, args, component=COMPONENT, unprivileged=True)


def _initdb(cluster: str) -> Binary:
    """Return the initdb command; its own `pg_hba.conf` rejects all logins, since the lab renders another one."""
    return _program(
        "initdb",
        *("-D", cluster, "--username", USER, "--auth", "reject"),
        *("--encoding", "UTF8", "--no-locale", "--no-sync", "--no-instructions"),
    )


_ACCESS = """# Every connection is authenticated; listen_addresses limits the interfaces.
host all all all scram-sha-256
host replication all all scram-sha-256
"""


_ENCRYPTED_ACCESS = _ACCESS.replace("\nhost ", "\nhostssl ")


def _config(site: Site) -> str:
    listen = site.listen(NAME, SQL.name)
    return f"""listen_addresses = '{listen.host}'
port = {listen.port}
unix_socket_directories = ''
hba_file = '{site.file(NAME, ACCESS)}'
password_encryption = 'scram-sha-256'

# Changes can be captured from the log (Debezium); the level cannot be raised without a restart.
wal_level = logical

max_connections = 60
shared_buffers = 64MB
# In the data folder, so that a server that was killed leaves nothing in /dev/shm.
dynamic_shared_memory_type = mmap

timezone = 'UTC'
log_timezone = 'UTC'
log_checkpoints = off
lc_messages = 'C'
{_encryption(site)}"""


def _encryption(site: Site) -> str:
    if not site.tls:
        return ""
    return f"""
ssl = on
ssl_cert_file = '{tls.certificate(site, NAME)}'
ssl_key_file = '{tls.key(site, NAME)}'
"""


def _resources(site: Site, settings: Settings) -> tuple[Resource, ...]:
    return (database(site, SHOP),)


def _client_environment(site: Site) -> dict[str, str]:
    server = site.address(NAME, SQL.name, "outside")
    found = {"PGHOST": server.host, "PGPORT": str(server.port), "PGUSER": user(site)}
    return found | tls.postgres_environment(tls.client_authority(site))


def _external_address(settings: Settings) -> Address | None:
    server = settings.section(PostgresSettings).external_postgres
    return parse_database_server(server) if server else None


def _external_postgres(site: Site) -> ExternalPostgres:
    """Return the check of an existing server; the connector that captures changes creates a slot of its own name."""
    server = site.address(NAME, SQL.name, "outside")
    return ExternalPostgres(
        name=NAME,
        host=server.host,
        port=server.port,
        user=user(site),
        credentials=site.client_credentials,
        maintenance=MAINTENANCE_DATABASE,
        captured=SHOP,
        slot=JOB_ORDERS_SOURCE,
    )


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Postgres",
    build=postgres_service,
    endpoints=ENDPOINTS,
    external=External(
        external_settings.POSTGRES, _external_address, _external_postgres, credentials=(credentials.POSTGRES_PASSWORD,)
    ),
    components=(COMPONENT,),
    settings=PostgresSettings,
    resources=_resources,
    client_environment=_client_environment,
    client_secrets={"PGPASSWORD": credentials.POSTGRES_PASSWORD},
    profiles=EVERY_PROFILE,
    position=40,
)

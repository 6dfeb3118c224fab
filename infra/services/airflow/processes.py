# SPDX-License-Identifier: Apache-2.0
"""Airflow, optional: API server with the web page, scheduler and DAG processor, on a database of the lab's Postgres.

Each process is a service, so that the lab restarts the one that fails. They share a folder, in which the API server
finds the logs of the tasks. There is no triggerer: no task of the lab waits in one.
"""

from infra import credentials
from infra.model import Endpoint, Prepare, Probe, Python, Resource, Service, Site
from infra.namespaces import JOB_NAMESPACE
from infra.services import lineage, postgres
from infra.services.airflow.settings import AirflowSettings, check, included
from infra.services.definition import ServiceDefinition, WebPage
from infra.settings import Settings

NAME = "airflow"
SCHEDULER = "airflow_scheduler"
DAG_PROCESSOR = "airflow_dag_processor"
WEB = Endpoint("web", 8080, scheme="http", published_as="airflow")
ENDPOINTS = (WEB,)
HOME = "home"
DATABASE = "airflow"
USER = "admin"
PASSWORD_VARIABLE = "LAB_AIRFLOW_PASSWORD"
SECRETS = {
    PASSWORD_VARIABLE: credentials.AIRFLOW_PASSWORD,
    "POSTGRES_PASSWORD": credentials.POSTGRES_PASSWORD,
    **lineage.EMITTER_SECRETS,
}


def api_service(site: Site, settings: Settings) -> Service:
    """Return the API server, which creates or migrates the tables of the database before it starts."""
    return Service(
        name=NAME,
        run=_airflow("api-server"),
        needs=(f"database/{DATABASE}", lineage.NAME),
        prepare=(Prepare(_airflow("db", "migrate")),),
        endpoints=ENDPOINTS,
        ready=Probe(WEB.name, "/api/v2/version", seconds=300),
        volumes=(HOME,),
        env=_environment(site),
        secrets=SECRETS,
        secret_files={_passwords_file(site): f'{{"{USER}": "${PASSWORD_VARIABLE}"}}'},
        memory_mib=260,
    )


def scheduler_service(site: Site, settings: Settings) -> Service:
    """Return the scheduler, whose workers run the tasks."""
    return Service(
        name=SCHEDULER,
        run=_airflow("scheduler", "--skip-serve-logs"),
        needs=(NAME,),
        env=_environment(site),
        secrets=SECRETS,
        memory_mib=300,
    )


def dag_processor_service(site: Site, settings: Settings) -> Service:
    """Return the process that reads the DAGs."""
    return Service(
        name=DAG_PROCESSOR,
        run=_airflow("dag-processor"),
        needs=(NAME,),
        env=_environment(site),
        secrets=SECRETS,
        memory_mib=240,
    )


def _airflow(*command: str) -> Python:
    return Python("jobs.airflow", command, environment="airflow")


def _passwords_file(site: Site) -> str:
    return f"{site.volume(NAME, HOME)}/passwords.json"


def _environment(site: Site) -> dict[str, str]:
    """Return the variables of `jobs.airflow.configuration`."""
    return {
        "AIRFLOW_HOME": site.volume(NAME, HOME),
        "LAB_AIRFLOW_DATABASE": f"{site.address(postgres.NAME, postgres.SQL.name)}/{DATABASE}",
        "LAB_AIRFLOW_DATABASE_USER": postgres.user(site),
        "LAB_AIRFLOW_PASSWORDS_FILE": _passwords_file(site),
        "LAB_AIRFLOW_URL": site.address(NAME, WEB.name, "outside").url,
        "LAB_AIRFLOW_USER": USER,
        "LAB_STACK": site.stack,
        "OPENLINEAGE_NAMESPACE": JOB_NAMESPACE,
        "OPENLINEAGE_URL": site.address(lineage.NAME, lineage.API.name).url,
    }


def _resources(site: Site, settings: Settings) -> tuple[Resource, ...]:
    return (postgres.database(site, DATABASE),)


def _client_environment(site: Site) -> dict[str, str]:
    return {"LAB_AIRFLOW_USER": USER}


DEFINITIONS = (
    ServiceDefinition(
        name=NAME,
        title="Airflow",
        build=api_service,
        endpoints=ENDPOINTS,
        settings=AirflowSettings,
        enabled=included,
        check=check,
        resources=_resources,
        client_environment=_client_environment,
        client_secrets={PASSWORD_VARIABLE: credentials.AIRFLOW_PASSWORD},
        web_page=WebPage(WEB),
        position=240,
    ),
    ServiceDefinition(name=SCHEDULER, build=scheduler_service, enabled=included, position=241),
    ServiceDefinition(name=DAG_PROCESSOR, build=dag_processor_service, enabled=included, position=242),
)

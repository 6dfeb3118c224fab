# SPDX-License-Identifier: Apache-2.0
"""Executors of Spark drivers as pods, which the drivers create themselves (`spark: kubernetes`)."""

from infra import credentials
from infra.errors import SettingsError
from infra.model import Python, Site, Task
from infra.services.spark import packages
from infra.services.spark.job import COMPONENT, PACKAGE, Driver
from infra.services.spark.settings import (
    SECRETS,
    SparkSettings,
    login_files,
    login_secrets,
    process_environment,
)
from infra.settings import Settings

MASTER = "k8s://https://kubernetes.default.svc"
"""Master URL: the API server, as a pod of the same cluster reaches it."""

MODULE = f"{PACKAGE}.launch_executor"

CORES_REQUEST = "100m"
"""CPU that the scheduler reserves for an executor; it may use a whole core."""

OVERHEAD_MIB = 384
"""Memory of an executor outside of its heap, MiB: Spark's minimum."""

Properties = dict[str, str | int | bool]


def included(settings: Settings) -> bool:
    """Return True if drivers create executor pods; a configured master URL takes precedence."""
    spark = settings.section(SparkSettings)
    return spark.spark == "kubernetes" and not spark.spark_master


def check(settings: Settings) -> None:
    """Raise SettingsError if executors are to be pods of a lab that does not run in pods."""
    if included(settings) and settings.target != "kubernetes":
        raise SettingsError(
            f"lineage-lab:spark is kubernetes, and the lab's target is {settings.target}: its drivers cannot create "
            "pods. Set lineage-lab:target: kubernetes, or lineage-lab:spark: local or cluster"
        )


def properties(driver: Driver, site: Site, settings: Settings) -> Properties:
    """Return the Spark properties of a driver; Spark resolves `${env:NAME}` in the driver's pod.

    A batch driver starts with all its executors and returns idle ones; a streaming driver, which never becomes idle,
    keeps one.
    """
    pods = site.executor_pods
    if not included(settings) or pods is None:
        return {}
    count = 1 if driver.streaming else settings.section(SparkSettings).spark_executors
    allocation: Properties = (
        {"spark.executor.instances": 1}
        if driver.streaming
        else {
            "spark.executor.instances": count,  # at the start
            "spark.dynamicAllocation.enabled": True,
            "spark.dynamicAllocation.shuffleTracking.enabled": True,
            "spark.dynamicAllocation.minExecutors": 1,
            "spark.dynamicAllocation.maxExecutors": count,
        }
    )
    return {
        "spark.kubernetes.namespace": f"${{env:{pods.namespace_variable}}}",
        "spark.kubernetes.container.image": f"${{env:{pods.image_variable}}}",
        "spark.kubernetes.driver.pod.name": f"${{env:{pods.name_variable}}}",
        "spark.kubernetes.executor.podTemplateFile": pods.template,
        "spark.kubernetes.executor.podTemplateContainerName": pods.container,
        "spark.kubernetes.executor.disableConfigMap": True,
        "spark.kubernetes.executor.request.cores": CORES_REQUEST,
        "spark.executor.cores": 1,
        "spark.executor.memoryOverhead": f"{OVERHEAD_MIB}m",
        # Ready as soon as all executors have registered, so that work is spread over all of them.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        **allocation,
    }


def program(driver: Driver, site: Site, settings: Settings) -> Task | None:
    """Return the program of a driver's executors; None if they run elsewhere."""
    if not included(settings):
        return None
    return Task(
        name=driver.program,
        run=Python(
            MODULE,
            environment="spark",
            packages=packages.environments(settings),
            components=(COMPONENT,),
            java=True,
        ),
        env={**process_environment(site), "AWS_REGION": credentials.S3_REGION},
        secrets={**SECRETS, **login_secrets(site)},
        secret_files=login_files(driver, site),
    )

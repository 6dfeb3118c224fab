# SPDX-License-Identifier: Apache-2.0
"""Task that trains the forecast of prices with scikit-learn, and the bucket of its models."""

from infra.model import Part, Python, Site, Task
from infra.namespaces import JOB_PRICE_FORECAST, MODELS_BUCKET
from infra.services import lake_client, object_store
from infra.services.definition import Draft
from infra.services.forecast.settings import included

MEMORY_MIB = 500


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the bucket and the task, if the lab has them."""
    if not included(draft.settings):
        return ()
    return (object_store.bucket(draft.site, MODELS_BUCKET), _task(draft.site))


def _task(site: Site) -> Task:
    scratch = site.scratch(JOB_PRICE_FORECAST)
    return Task(
        name=JOB_PRICE_FORECAST,
        run=Python("jobs.models.price_forecast", environment="models"),
        needs=(*lake_client.NEEDS, f"bucket/{MODELS_BUCKET}"),
        env={
            **lake_client.environment(site),
            "LINEAGE_SPOOL": f"{scratch}/unsent-events.json",
            "LINEAGE_OPEN_RUNS": f"{scratch}/open_runs.json",
        },
        secrets=lake_client.CLIENT_SECRETS,
        memory_mib=MEMORY_MIB,
    )

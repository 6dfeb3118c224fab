# SPDX-License-Identifier: Apache-2.0
"""The shop: it writes the orders and bids that flow through the lab into its database."""

from infra import credentials
from infra.model import Python, Service, Site
from infra.namespaces import JOB_ORDERS_SOURCE
from infra.services import postgres
from infra.services.shop import tables as shop_tables
from infra.settings import Settings

NAME = "shop"
CURRENCY = "currency"


def shop(site: Site, settings: Settings) -> Service:
    """The shop, as untidy as the settings say."""
    return Service(
        name=NAME,
        run=Python(
            "jobs.shop",
            (
                *("--postgres", str(site.address(postgres.NAME, postgres.SQL.name))),
                *("--database", postgres.SHOP, "--user", postgres.USER),
                *("--rate", f"{settings.shop_rate:g}", "--seed", str(settings.shop_seed)),
                *("--error-rate", f"{settings.shop_error_rate:g}"),
                *("--duplicate-rate", f"{settings.shop_duplicate_rate:g}"),
                *("--late-rate", f"{settings.shop_late_rate:g}"),
                *(("--optional", CURRENCY) if settings.shop_currency else ()),
            ),
            uses=("infra.namespaces",),
        ),
        # Behind the source, so that every row is captured as it is written. Rows that are there before it come by
        # its snapshot, which begins anew, and says them twice, where it is killed in the middle.
        needs=(*(table.key for table in shop_tables.tables()), f"connector/{JOB_ORDERS_SOURCE}"),
        secrets={"PGPASSWORD": credentials.POSTGRES_PASSWORD},
        memory_mib=64,
    )

# SPDX-License-Identifier: Apache-2.0
"""The shop: it writes the orders and bids that flow through the lab."""

from infra.model import Python, Service, Site
from infra.namespaces import TOPICS
from infra.services import kafka
from infra.settings import Settings

NAME = "shop"


def shop(site: Site, settings: Settings) -> Service:
    """The shop, as untidy as the settings say."""
    return Service(
        name=NAME,
        run=Python(
            "jobs.shop",
            (
                *("--bootstrap", str(site.address(kafka.NAME, kafka.BROKER.name))),
                *("--rate", f"{settings.shop_rate:g}", "--seed", str(settings.shop_seed)),
                *("--error-rate", f"{settings.shop_error_rate:g}"),
                *("--duplicate-rate", f"{settings.shop_duplicate_rate:g}"),
                *("--late-rate", f"{settings.shop_late_rate:g}"),
            ),
            uses=("jobs.schemas", "infra.namespaces"),
        ),
        needs=tuple(f"topic/{topic}" for topic in TOPICS),
        memory_mib=96,
    )

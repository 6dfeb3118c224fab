# SPDX-License-Identifier: Apache-2.0
"""Shop: generator of orders and bids, the source data of the lab."""

from pydantic import Field

from infra import credentials
from infra.model import Python, Service, Site
from infra.namespaces import JOB_ORDERS_SOURCE
from infra.services import postgres, tls
from infra.services.definition import EVERY_PROFILE, ServiceDefinition
from infra.services.shop import tables as shop_tables
from infra.settings import BooleanSetting, Settings, SettingsSection

NAME = "shop"
CURRENCY_COLUMN = "currency"
"""Optional column, written only to tables that have it."""


class ShopSettings(SettingsSection):
    """Settings of the shop."""

    shop_rate: float = Field(20, gt=0, le=5000, description="orders that the shop writes per second")
    shop_seed: int = Field(7, ge=0, description="random seed; shops with equal seeds write the same orders")
    shop_error_rate: float = Field(0.02, ge=0, le=1, description="share of orders with an invalid price")
    shop_duplicate_rate: float = Field(0.02, ge=0, le=1, description="share of orders written twice")
    shop_late_rate: float = Field(0.05, ge=0, le=1, description="share of orders up to ten minutes late")
    shop_currency: BooleanSetting = Field(
        True, description="true: the shop also writes the column currency to tables that have it"
    )


def shop_service(site: Site, settings: Settings) -> Service:
    """Return the shop, with the configured rates of invalid, duplicate and late orders."""
    shop_settings = settings.section(ShopSettings)
    return Service(
        name=NAME,
        run=Python(
            "jobs.shop",
            (
                *("--postgres", str(site.address(postgres.NAME, postgres.SQL.name))),
                *("--database", postgres.SHOP, "--user", postgres.user(site)),
                *(
                    "--rate",
                    f"{shop_settings.shop_rate:g}",
                    "--seed",
                    str(shop_settings.shop_seed),
                ),
                *("--error-rate", f"{shop_settings.shop_error_rate:g}"),
                *("--duplicate-rate", f"{shop_settings.shop_duplicate_rate:g}"),
                *("--late-rate", f"{shop_settings.shop_late_rate:g}"),
                *(("--optional", CURRENCY_COLUMN) if shop_settings.shop_currency else ()),
            ),
            uses=("infra.namespaces", "lineagelab_common"),
        ),
        # Starts after the source, so that every row is captured when it is written. Rows that exist before would be
        # read by the source's initial snapshot, which restarts, and emits them again, if it is interrupted.
        needs=(*(table.key for table in shop_tables.tables(site)), f"connector/{JOB_ORDERS_SOURCE}"),
        env=tls.python_environment(site),
        secrets={"PGPASSWORD": credentials.POSTGRES_PASSWORD},
        memory_mib=64,
    )


DEFINITION = ServiceDefinition(
    name=NAME, build=shop_service, settings=ShopSettings, profiles=EVERY_PROFILE, position=70
)

# SPDX-License-Identifier: Apache-2.0
"""Arguments and tables that the lab configures, compared with those that the shop accepts and writes."""

from pathlib import Path

import pytest

from infra.catalog import LabSettings
from infra.model import Python
from infra.services import postgres
from infra.services.shop import tables as shop_tables
from infra.services.shop import writer as shop
from infra.targets.local.site import LocalSite
from jobs.shop.__main__ import parse
from jobs.shop.database import Server
from jobs.shop.orders import Mix
from jobs.shop.tables import KEY, OPTIONAL, TABLES


@pytest.fixture
def site(tmp_path: Path) -> LocalSite:
    return LocalSite(root=tmp_path, port_offset=300, endpoints={postgres.NAME: postgres.ENDPOINTS}, programs=None)


def arguments(site, **settings):
    service = shop.shop_service(site, LabSettings(**settings))
    assert isinstance(service.run, Python)
    return parse(list(service.run.args))


def test_shop_accepts_the_arguments_of_the_lab(site):
    given = arguments(
        site,
        shop_rate=2.5,
        shop_seed=9,
        shop_error_rate=0.1,
        shop_duplicate_rate=0,
        shop_late_rate=1,
        shop_currency=False,
    )
    assert given.server == Server("127.0.0.1", 5732, "postgres", "shop")
    assert given.work.mix == Mix(seed=9, error_rate=0.1, duplicate_rate=0, late_rate=1)
    assert (given.work.pace.rate, given.work.count, given.work.optional) == (2.5, 0, ())


def test_defaults_of_lab_and_shop_are_equal(site):
    given = arguments(site)
    assert given.work.mix == Mix()
    assert given.work.optional == OPTIONAL
    assert parse(["--postgres", "127.0.0.1:5732"]).work.pace == given.work.pace


def test_password_is_not_an_argument(site):
    assert shop.shop_service(site, LabSettings()).secrets == {"PGPASSWORD": "POSTGRES_PASSWORD"}


def test_lab_creates_the_tables_that_the_shop_writes(site):
    made = {table.name: table for table in shop_tables.tables(site)}
    assert made.keys() == {table.name for table in TABLES}
    for table in TABLES:
        assert table.missing([column.name for column in made[table.name].columns]) == []
        assert made[table.name].primary_key == (KEY,)

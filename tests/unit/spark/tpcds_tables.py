# SPDX-License-Identifier: Apache-2.0
"""Small tables with names and keys of TPC-DS, for the comparison of derived lineage with observed effects.

Only the columns that the queries use. Domains are small, so that joins and filters find rows.
"""

from collections.abc import Sequence
from random import Random

Rows = tuple[tuple[object, ...], ...]

Domain = Sequence[object]

_NUMBERS = range(1, 400)
_KEYS = range(6)
_YEARS = (2000, 2000, 2000, 2001)
_MONTHS = (11, 11, 12)
_BRANDS = ("amalg", "edu pack", "export", "import")
_CATEGORIES = ("Books", "Books", "Music", "Sports")
_CLASSES = ("classical", "fiction", "golf")
_DAYS = ("Sunday", "Monday", "Friday")
_NAMES = ("able", "bar", "cally", "eing")
_STATES = ("TN", "TN", "GA")

TABLES: dict[str, tuple[int, dict[str, Domain]]] = {
    "date_dim": (6, {"d_date_sk": (), "d_year": _YEARS, "d_moy": _MONTHS, "d_day_name": _DAYS, "d_date": _NUMBERS}),
    "item": (
        6,
        {
            "i_item_sk": (),
            "i_item_id": _NAMES,
            "i_brand_id": _NUMBERS,
            "i_brand": _BRANDS,
            "i_category": _CATEGORIES,
            "i_class": _CLASSES,
            "i_current_price": _NUMBERS,
            "i_manager_id": (1, 1, 2),
        },
    ),
    "store": (6, {"s_store_sk": (), "s_store_name": _NAMES, "s_state": _STATES}),
    "customer": (6, {"c_customer_sk": (), "c_customer_id": _NAMES, "c_first_name": _NAMES, "c_last_name": _NAMES}),
    "promotion": (6, {"p_promo_sk": (), "p_channel_email": ("N", "Y"), "p_channel_event": ("N", "Y")}),
    "customer_demographics": (6, {"cd_demo_sk": (), "cd_gender": ("M", "M", "F"), "cd_education_status": _CLASSES}),
    "store_sales": (
        24,
        {
            "ss_sold_date_sk": _KEYS,
            "ss_item_sk": _KEYS,
            "ss_store_sk": _KEYS,
            "ss_customer_sk": _KEYS,
            "ss_cdemo_sk": _KEYS,
            "ss_promo_sk": _KEYS,
            "ss_quantity": _NUMBERS,
            "ss_list_price": _NUMBERS,
            "ss_sales_price": _NUMBERS,
            "ss_ext_sales_price": _NUMBERS,
            "ss_net_profit": _NUMBERS,
        },
    ),
    "store_returns": (
        24,
        {"sr_returned_date_sk": _KEYS, "sr_customer_sk": _KEYS, "sr_store_sk": _KEYS, "sr_return_amt": _NUMBERS},
    ),
    "catalog_sales": (12, {"cs_sold_date_sk": _KEYS, "cs_bill_customer_sk": _KEYS}),
    "web_sales": (12, {"ws_sold_date_sk": _KEYS, "ws_bill_customer_sk": _KEYS}),
}
"""Number of rows, and domain of each column; an empty one is the table's own key: the position of the row."""


def random_rows(random: Random) -> dict[str, Rows]:
    """Return rows of every table."""
    return {
        table: tuple(
            tuple(random.choice(domain) if domain else row for domain in columns.values()) for row in range(size)
        )
        for table, (size, columns) in TABLES.items()
    }


def schema(table: str) -> str:
    """Return a table's schema as Spark's DDL."""
    _, columns = TABLES[table]
    types = {name: "string" if domain and isinstance(domain[0], str) else "int" for name, domain in columns.items()}
    return ", ".join(f"{name} {kind}" for name, kind in types.items())

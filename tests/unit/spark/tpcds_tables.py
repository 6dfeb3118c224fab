# SPDX-License-Identifier: Apache-2.0
"""The tables of TPC-DS, small, for the comparison of derived lineage with observed effects.

Names and keys are those of the specification; only the columns that the queries use. Domains are small, so that joins
and filters find rows; a date is a number of days, as the queries add days to it.
"""

from collections.abc import Sequence
from random import Random

Rows = tuple[tuple[object, ...], ...]

Domain = Sequence[object]

_KEY: Domain = ()
_KEYS = range(6)
_NUMBERS = range(1, 400)
_ORDERS = range(4)
_NAMES = ("able", "bar", "cally", "eing")
_CITIES = ("Fairview", "Midway", "Fairview", "Oak")
_COUNTIES = ("Williamson", "Rush", "Toole", "Rush")
_STATES = ("TN", "TN", "GA")
_ZIPS = ("24128", "57834", "13354")
_DEGREES = ("classical", "fiction", "golf")
_FLAGS = ("N", "Y")

_DIMENSIONS: dict[str, dict[str, Domain]] = {
    "date_dim": {
        "d_date_sk": _KEY,
        "d_date": _NUMBERS,
        "d_year": (2000, 2000, 2000, 2001),
        "d_qoy": (1, 2, 2),
        "d_quarter_name": ("2000Q2", "2000Q2", "2000Q3"),
        "d_moy": (11, 11, 12),
        "d_month_seq": (1, 2, 3),
        "d_week_seq": (1, 2, 2),
        "d_dom": (1, 2, 28),
        "d_dow": (1, 1, 5),
        "d_day_name": ("Sunday", "Monday", "Friday"),
    },
    "time_dim": {
        "t_time_sk": _KEY,
        "t_time": _NUMBERS,
        "t_hour": (8, 9, 19),
        "t_minute": (10, 30, 50),
        "t_meal_time": ("breakfast", "dinner", "breakfast", ""),
    },
    "item": {
        "i_item_sk": _KEY,
        "i_item_id": _NAMES,
        "i_item_desc": ("a book", "a ball", "a song"),
        "i_product_name": _NAMES,
        "i_brand_id": (1, 1, 2),
        "i_brand": ("amalg", "edu pack", "export", "import"),
        "i_category_id": (1, 1, 2),
        "i_category": ("Books", "Books", "Music", "Sports"),
        "i_class_id": (1, 1, 2),
        "i_class": _DEGREES,
        "i_manufact_id": (77, 77, 99),
        "i_manufact": ("ought", "able", "ought"),
        "i_color": ("peach", "navy", "khaki"),
        "i_units": ("Oz", "Ounce"),
        "i_size": ("large", "medium"),
        "i_current_price": _NUMBERS,
        "i_manager_id": (1, 1, 2),
    },
    "store": {
        "s_store_sk": _KEY,
        "s_store_id": _NAMES,
        "s_store_name": _NAMES,
        "s_number_employees": _NUMBERS,
        "s_market_id": (8, 8, 7),
        "s_company_id": (1, 2),
        "s_company_name": ("Unknown", "Known"),
        "s_city": _CITIES,
        "s_county": _COUNTIES,
        "s_state": _STATES,
        "s_zip": _ZIPS,
        "s_gmt_offset": (-5, -5, -6),
    },
    "customer": {
        "c_customer_sk": _KEY,
        "c_customer_id": _NAMES,
        "c_salutation": ("Dr.", "Ms."),
        "c_first_name": _NAMES,
        "c_last_name": _NAMES,
        "c_preferred_cust_flag": _FLAGS,
        "c_birth_month": (1, 2, 3),
        "c_birth_year": _NUMBERS,
        "c_birth_country": ("UNITED STATES", "PERU", "CHAD"),
        "c_current_addr_sk": _KEYS,
        "c_current_cdemo_sk": _KEYS,
        "c_current_hdemo_sk": _KEYS,
        "c_first_sales_date_sk": _KEYS,
        "c_first_shipto_date_sk": _KEYS,
    },
    "customer_address": {
        "ca_address_sk": _KEY,
        "ca_city": _CITIES,
        "ca_county": _COUNTIES,
        "ca_state": _STATES,
        "ca_zip": _ZIPS,
        "ca_country": ("United States", "United States", "United States", "Canada"),
        "ca_gmt_offset": (-5, -5, -6),
    },
    "customer_demographics": {
        "cd_demo_sk": _KEY,
        "cd_gender": ("M", "M", "F"),
        "cd_marital_status": ("M", "S", "S"),
        "cd_education_status": _DEGREES,
        "cd_purchase_estimate": _NUMBERS,
        "cd_credit_rating": ("Good", "High Risk"),
        "cd_dep_count": _NUMBERS,
    },
    "household_demographics": {
        "hd_demo_sk": _KEY,
        "hd_income_band_sk": _KEYS,
        "hd_buy_potential": (">10000", ">10000", "unknown"),
        "hd_dep_count": (1, 3, 3),
        "hd_vehicle_count": (1, 2, 4),
    },
    "income_band": {"ib_income_band_sk": _KEY, "ib_lower_bound": _NUMBERS, "ib_upper_bound": _NUMBERS},
    "promotion": {
        "p_promo_sk": _KEY,
        "p_channel_dmail": _FLAGS,
        "p_channel_email": _FLAGS,
        "p_channel_event": _FLAGS,
        "p_channel_tv": _FLAGS,
    },
    "warehouse": {
        "w_warehouse_sk": _KEY,
        "w_warehouse_name": _NAMES,
        "w_warehouse_sq_ft": _NUMBERS,
        "w_city": _CITIES,
        "w_state": _STATES,
    },
    "ship_mode": {"sm_ship_mode_sk": _KEY, "sm_type": ("EXPRESS", "OVERNIGHT"), "sm_carrier": ("DHL", "BARIAN", "UPS")},
    "reason": {"r_reason_sk": _KEY, "r_reason_desc": ("reason 1", "reason 2", "reason 2")},
    "call_center": {
        "cc_call_center_sk": _KEY,
        "cc_call_center_id": _NAMES,
        "cc_name": ("North", "South"),
        "cc_manager": _NAMES,
        "cc_county": _COUNTIES,
    },
    "catalog_page": {"cp_catalog_page_sk": _KEY, "cp_catalog_page_id": _NAMES},
    "web_page": {"wp_web_page_sk": _KEY, "wp_char_count": _NUMBERS},
    "web_site": {
        "web_site_sk": _KEY,
        "web_site_id": _NAMES,
        "web_name": ("site 1", "site 2"),
        "web_company_name": ("pri", "pri", "able"),
    },
}

_FACTS: dict[str, tuple[str, ...]] = {
    "store_sales": (
        "ss_sold_date_sk ss_sold_time_sk ss_item_sk ss_customer_sk ss_cdemo_sk ss_hdemo_sk ss_addr_sk ss_store_sk"
        " ss_promo_sk",
        "ss_ticket_number",
        "ss_quantity ss_wholesale_cost ss_list_price ss_sales_price ss_ext_discount_amt ss_ext_sales_price"
        " ss_ext_wholesale_cost ss_ext_list_price ss_coupon_amt ss_net_paid ss_net_profit",
    ),
    "store_returns": (
        "sr_returned_date_sk sr_item_sk sr_customer_sk sr_cdemo_sk sr_store_sk sr_reason_sk",
        "sr_ticket_number",
        "sr_return_quantity sr_return_amt sr_net_loss",
    ),
    "catalog_sales": (
        "cs_sold_date_sk cs_sold_time_sk cs_ship_date_sk cs_bill_customer_sk cs_bill_cdemo_sk cs_bill_hdemo_sk"
        " cs_bill_addr_sk cs_ship_customer_sk cs_ship_addr_sk cs_call_center_sk cs_catalog_page_sk cs_ship_mode_sk"
        " cs_warehouse_sk cs_item_sk cs_promo_sk",
        "cs_order_number",
        "cs_quantity cs_wholesale_cost cs_list_price cs_sales_price cs_ext_discount_amt cs_ext_sales_price"
        " cs_ext_wholesale_cost cs_ext_list_price cs_coupon_amt cs_ext_ship_cost cs_net_paid cs_net_profit",
    ),
    "catalog_returns": (
        "cr_returned_date_sk cr_item_sk cr_returning_customer_sk cr_returning_addr_sk cr_call_center_sk"
        " cr_catalog_page_sk",
        "cr_order_number",
        "cr_return_quantity cr_return_amount cr_return_amt_inc_tax cr_refunded_cash cr_reversed_charge cr_store_credit"
        " cr_net_loss",
    ),
    "web_sales": (
        "ws_sold_date_sk ws_sold_time_sk ws_ship_date_sk ws_item_sk ws_bill_customer_sk ws_bill_addr_sk"
        " ws_ship_customer_sk ws_ship_hdemo_sk ws_ship_addr_sk ws_web_page_sk ws_web_site_sk ws_ship_mode_sk"
        " ws_warehouse_sk ws_promo_sk",
        "ws_order_number",
        "ws_quantity ws_wholesale_cost ws_list_price ws_sales_price ws_ext_discount_amt ws_ext_sales_price"
        " ws_ext_wholesale_cost ws_ext_list_price ws_ext_ship_cost ws_net_paid ws_net_profit",
    ),
    "web_returns": (
        "wr_returned_date_sk wr_item_sk wr_refunded_cdemo_sk wr_refunded_addr_sk wr_returning_customer_sk"
        " wr_returning_cdemo_sk wr_returning_addr_sk wr_web_page_sk wr_reason_sk",
        "wr_order_number",
        "wr_return_quantity wr_return_amt wr_fee wr_refunded_cash wr_net_loss",
    ),
    "inventory": ("inv_date_sk inv_item_sk inv_warehouse_sk", "", "inv_quantity_on_hand"),
}
"""Keys of dimensions, the number of the order, and numbers, of each table of facts."""


def _fact(keys: str, order: str, numbers: str) -> dict[str, Domain]:
    return {
        name: domain
        for names, domain in ((keys, _KEYS), (order, _ORDERS), (numbers, _NUMBERS))
        for name in names.split()
    }


TABLES: dict[str, tuple[int, dict[str, Domain]]] = {
    **{name: (6, columns) for name, columns in _DIMENSIONS.items()},
    **{name: (72 if name == "inventory" else 24, _fact(*columns)) for name, columns in _FACTS.items()},
}
"""Number of rows, and domain of each column; an empty one is the table's own key: the position of the row."""


def random_rows(seed: int) -> dict[str, Rows]:
    """Return rows of every table; those of one do not depend on the others."""
    return {table: _rows(Random(f"{seed} {table}"), *TABLES[table]) for table in TABLES}


def _rows(random: Random, size: int, columns: dict[str, Domain]) -> Rows:
    return tuple(tuple(random.choice(domain) if domain else row for domain in columns.values()) for row in range(size))


def schema(table: str) -> str:
    """Return a table's schema as Spark's DDL."""
    _, columns = TABLES[table]
    types = {name: "string" if domain and isinstance(domain[0], str) else "int" for name, domain in columns.items()}
    return ", ".join(f"{name} {kind}" for name, kind in types.items())

select
    order_id,
    item,
    supplier,
    price,
    bid_time as ordered_at,
    cast(bid_time at time zone 'UTC' as date) as order_date,
    cast(extract(hour from bid_time at time zone 'UTC') as integer) as order_hour
from {{ source('sales', 'orders') }}

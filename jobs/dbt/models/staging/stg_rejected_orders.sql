select
    order_id,
    reason,
    kafka_timestamp as rejected_at,
    cast(kafka_timestamp at time zone 'UTC' as date) as rejected_date
from {{ source('sales', 'orders_rejected') }}

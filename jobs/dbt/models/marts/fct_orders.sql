select order_id, supplier, order_date, order_hour, item, price, ordered_at
from {{ ref('stg_orders') }}

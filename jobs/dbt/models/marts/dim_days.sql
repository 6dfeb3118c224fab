with days as (
    select order_date as day from {{ ref('fct_orders') }}
    union
    select rejected_date from {{ ref('stg_rejected_orders') }}
)

select
    day,
    cast(isodow(day) as integer) as weekday,
    isodow(day) > 5 as is_weekend
from days

with hours as (
    select
        supplier,
        order_date,
        order_hour,
        count(*) as orders,
        cast(sum(price) as decimal(18, 2)) as revenue
    from {{ ref('fct_orders') }}
    group by all
)

select
    *,
    cast(revenue / sum(revenue) over (partition by order_date, order_hour) as double) as share_of_hour
from hours

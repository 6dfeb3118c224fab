select
    supplier,
    min(ordered_at) as first_ordered_at,
    max(ordered_at) as last_ordered_at,
    count(*) as orders,
    cast(sum(price) as decimal(18, 2)) as revenue
from {{ ref('fct_orders') }}
group by supplier

with accepted as (
    select order_date, count(*) as orders, max(ordered_at) as last_ordered_at
    from {{ ref('fct_orders') }}
    group by order_date
),

rejected as (
    select rejected_date, count(*) as rejected, count(*) filter (reason like 'bid_time is more than %') as late
    from {{ ref('stg_rejected_orders') }}
    group by rejected_date
)

select
    days.day,
    days.is_weekend,
    coalesce(accepted.orders, 0) as orders,
    coalesce(rejected.rejected, 0) as rejected,
    coalesce(rejected.late, 0) as late,
    accepted.last_ordered_at
from {{ ref('dim_days') }} as days
left join accepted on accepted.order_date = days.day
left join rejected on rejected.rejected_date = days.day

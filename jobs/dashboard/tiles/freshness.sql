-- title: Newest order in the marts
-- chart: metric(last_order)
select max(last_ordered_at) as last_order
from marts.order_quality_by_day

-- title: Rejected and late orders by day
-- chart: bar(day, [rejected, late])
select day, orders, rejected, late
from marts.order_quality_by_day
order by day

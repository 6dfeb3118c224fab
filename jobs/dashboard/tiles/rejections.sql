-- title: Why orders are rejected
-- chart: table
select reason, count(*) as orders, max(kafka_timestamp) as last_seen
from sales.orders_rejected
group by reason
order by orders desc

-- title: Revenue by hour and supplier
-- chart: bar(hour, revenue, supplier)
select
    order_date + to_hours(order_hour) as hour,
    supplier,
    cast(revenue as double) as revenue
from marts.revenue_by_supplier_and_hour
where order_date >= current_date - 1
order by hour, supplier

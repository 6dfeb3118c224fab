-- title: Suppliers
-- chart: table
select supplier, orders, cast(revenue as double) as revenue, last_ordered_at as last_order
from marts.dim_suppliers
order by revenue desc

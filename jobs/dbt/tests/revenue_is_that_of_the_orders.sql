-- No order is lost between the fact table and the sums of its hours.
select *
from (select sum(revenue) as revenue from {{ ref('revenue_by_supplier_and_hour') }}) as hours,
    (select sum(price) as revenue from {{ ref('fct_orders') }}) as orders
where hours.revenue <> orders.revenue

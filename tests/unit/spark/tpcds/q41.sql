SELECT DISTINCT i_product_name
FROM item i1
WHERE i_manufact_id BETWEEN 30 AND 30 + 340
    AND (
        SELECT count(*) AS item_cnt FROM item
        WHERE (i_manufact = i1.i_manufact
                AND (i_category = 'Books' AND (i_color = 'peach' OR i_color = 'navy')
                        AND (i_units = 'Ounce' OR i_units = 'Oz') AND (i_size = 'medium' OR i_size = 'large')
                    OR i_category = 'Music' AND (i_color = 'navy' OR i_color = 'khaki') AND i_units = 'Oz'))
            OR (i_manufact = i1.i_manufact AND i_category = 'Sports' AND i_size = 'large')) > 0
ORDER BY i_product_name
LIMIT 100

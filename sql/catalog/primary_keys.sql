-- Primary keys of the tables $1 (oid[]), columns in key order.
SELECT coalesce(json_agg(t), '[]')::text
FROM (
    SELECT k.conrelid::bigint AS "table",
           (SELECT json_agg(a.attname ORDER BY c.place)
            FROM unnest(k.conkey) WITH ORDINALITY AS c (attnum, place)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = c.attnum) AS columns
    FROM pg_constraint k
    WHERE k.conrelid = ANY ($1) AND k.contype = 'p'
) t

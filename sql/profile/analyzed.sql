-- Statistics of ANALYZE for the columns of the tables $1 (oid[]); for a parent, those that include its children. Values
-- only of text columns, and only if $2.
SELECT coalesce(json_agg(t), '[]')::text
FROM (
    SELECT DISTINCT ON (c.oid, a.attnum)
           c.oid::bigint AS "table",
           s.attname AS name,
           s.null_frac AS null_share,
           s.n_distinct AS distinct_count,
           v.texts AS values,
           CASE WHEN v.texts IS NOT NULL THEN s.most_common_freqs::float8[] END AS frequencies
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = s.attname
    LEFT JOIN LATERAL (
        SELECT s.most_common_vals::text::text[] AS texts
        WHERE $2 AND (SELECT y.typcategory FROM pg_type y WHERE y.oid = a.atttypid) = 'S'
    ) v ON true
    WHERE c.oid = ANY ($1)
    ORDER BY c.oid, a.attnum, s.inherited DESC
) t

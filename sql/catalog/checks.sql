-- CHECK constraints of the tables $1 (oid[]) that may list a column's values, as the server prints them.
SELECT coalesce(json_agg(t), '[]')::text
FROM (
    SELECT k."table", k.expression
    FROM (SELECT c.conrelid::bigint AS "table", pg_get_expr(c.conbin, c.conrelid) AS expression, c.conname
          FROM pg_constraint c
          WHERE c.conrelid = ANY ($1) AND c.contype = 'c' AND c.convalidated) k
    WHERE k.expression LIKE '%=%'
    ORDER BY k."table", k.conname COLLATE "C"
) t

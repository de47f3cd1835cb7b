-- Columns of the tables $1 (oid[]), in order. Labels are those of the column's enum, even inside a domain or an array.
-- Checks are those of its domain and of the domains below it, outermost first.
WITH RECURSIVE used AS (
    SELECT DISTINCT a.atttypid AS type
    FROM pg_attribute a
    WHERE a.attrelid = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
), base (type, base, element, level) AS (
    SELECT type, type, false, 0 FROM used
    UNION
    SELECT b.type,
           CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.typelem END,
           b.element OR t.typtype <> 'd',
           b.level + 1
    FROM base b
    JOIN pg_type t ON t.oid = b.base
    WHERE t.typtype = 'd' OR (t.typcategory = 'A' AND t.typelem <> 0)
), labels AS (
    SELECT b.type, json_agg(e.enumlabel ORDER BY e.enumsortorder) AS labels
    FROM base b
    JOIN pg_enum e ON e.enumtypid = b.base
    GROUP BY b.type
), checks AS (
    SELECT b.type, json_agg(pg_get_expr(k.conbin, 0) ORDER BY b.level, k.conname COLLATE "C") AS checks
    FROM base b
    JOIN pg_constraint k ON k.contypid = b.base AND k.contype = 'c' AND k.convalidated
    WHERE NOT b.element
    GROUP BY b.type
), required AS (
    -- A NOT NULL domain makes the column NOT NULL; a NOT NULL domain of array elements does not.
    SELECT DISTINCT b.type
    FROM base b
    JOIN pg_type t ON t.oid = b.base
    WHERE t.typtype = 'd' AND t.typnotnull AND NOT b.element
)
SELECT coalesce(json_agg(t), '[]')::text
FROM (
    SELECT a.attrelid::bigint AS "table",
           a.attname AS name,
           format_type(a.atttypid, a.atttypmod) AS type,
           NOT (a.attnotnull OR a.atttypid IN (SELECT type FROM required)) AS nullable,
           col_description(a.attrelid, a.attnum) AS description,
           CASE
               WHEN a.attidentity = 'a' THEN 'identity always'
               WHEN a.attidentity = 'd' THEN 'identity by default'
               WHEN a.attgenerated = 's' THEN 'generated stored'
               WHEN a.attgenerated = 'v' THEN 'generated virtual'
           END AS "generated",
           l.labels,
           c.checks
    FROM pg_attribute a
    LEFT JOIN labels l ON l.type = a.atttypid
    LEFT JOIN checks c ON c.type = a.atttypid
    WHERE a.attrelid = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attrelid, a.attnum
) t

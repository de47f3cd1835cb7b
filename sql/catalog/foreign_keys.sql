-- Foreign keys of the tables $1 (oid[]), column pairs in key order. Each partition repeats the keys of its root, and a key
-- that references a partition names the root; no key is listed twice.
SELECT coalesce(json_agg(t), '[]')::text
FROM (
    SELECT k.conrelid::bigint AS "table",
           k.conname AS name,
           (SELECT json_agg(a.attname ORDER BY c.place)
            FROM unnest(k.conkey) WITH ORDINALITY AS c (attnum, place)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = c.attnum) AS columns,
           n.nspname AS referred_schema,
           r.relname AS referred_table,
           (SELECT json_agg(a.attname ORDER BY c.place)
            FROM unnest(k.confkey) WITH ORDINALITY AS c (attnum, place)
            JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = c.attnum) AS referred_columns,
           -- A complete, immediate unique index on a subset of the key's columns.
           EXISTS (SELECT
                   FROM pg_index i
                   WHERE i.indrelid = k.conrelid AND i.indisunique AND i.indisvalid AND i.indimmediate
                     AND i.indpred IS NULL AND i.indexprs IS NULL
                     AND (SELECT bool_and(i.indkey[place] = ANY (k.conkey))
                          FROM generate_series(0, i.indnkeyatts - 1) AS place)) AS "unique"
    FROM pg_constraint k
    JOIN pg_class r ON r.oid = k.confrelid
    JOIN pg_namespace n ON n.oid = r.relnamespace
    WHERE k.conrelid = ANY ($1) AND k.contype = 'f' AND k.conparentid = 0
) t

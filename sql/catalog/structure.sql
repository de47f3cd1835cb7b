-- (after relations.sql) The structure without statistics, in one query: rows as arrays, in the order of the Rust fields.
-- A column refers to its type by number, a key to its columns; a key that leaves the schemas names the other end.
, columns AS MATERIALIZED (
    SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull
    FROM relations r
    JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
), base (type, base) AS (
    SELECT DISTINCT atttypid, atttypid FROM columns
    UNION
    SELECT b.type, t.typbasetype FROM base b JOIN pg_type t ON t.oid = b.base AND t.typtype = 'd'
), types AS (
    SELECT d.atttypid, d.atttypmod, format_type(d.atttypid, d.atttypmod) AS name,
           d.atttypid IN (SELECT b.type FROM base b JOIN pg_type t ON t.oid = b.base
                          WHERE t.typtype = 'd' AND t.typnotnull) AS required
    FROM (SELECT DISTINCT atttypid, atttypmod FROM columns) d
)
SELECT json_build_object(
    'tables', (SELECT coalesce(json_agg(json_build_array(r.oid::bigint, r.nspname, r.relname, k.kind)), '[]')
               FROM relations r JOIN kinds k ON k.relkind = r.relkind::text),
    'types', (SELECT coalesce(json_agg(json_build_array(t.atttypid::bigint, t.atttypmod, t.name, t.required)), '[]')
              FROM types t),
    'columns', (SELECT coalesce(json_agg(json_build_array(
                           c.attrelid::bigint, c.attnum, c.attname, c.atttypid::bigint, c.atttypmod, c.attnotnull)), '[]')
                FROM columns c),
    'primary_keys', (SELECT coalesce(json_agg(json_build_array(k.conrelid::bigint, k.conkey)), '[]')
                     FROM relations r JOIN pg_constraint k ON k.conrelid = r.oid AND k.contype = 'p'),
    'foreign_keys', (SELECT coalesce(json_agg(json_build_array(
                                k.conrelid::bigint, k.conname, k.conkey, k.confrelid::bigint, k.confkey,
                                CASE WHEN k.confrelid NOT IN (SELECT oid FROM relations) THEN
                                    (SELECT json_build_array(
                                                n.nspname,
                                                f.relname,
                                                ARRAY(SELECT c.attname
                                                      FROM unnest(k.confkey) WITH ORDINALITY AS p (attnum, place)
                                                      JOIN pg_attribute c ON c.attrelid = f.oid AND c.attnum = p.attnum
                                                      ORDER BY p.place))
                                     FROM pg_class f
                                     JOIN pg_namespace n ON n.oid = f.relnamespace
                                     WHERE f.oid = k.confrelid)
                                END)), '[]')
                     FROM relations r
                     JOIN pg_constraint k ON k.conrelid = r.oid AND k.contype = 'f' AND k.conparentid = 0))::text

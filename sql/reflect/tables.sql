-- Tables of the schemas $1 (name[]). A partition is not a table of its own; what belongs to an
-- extension or to one session alone is left out. A partitioned root that ANALYZE has not seen has the
-- sum of its leaves' estimates.
SELECT coalesce(json_agg(t), '[]')::text
FROM (
    SELECT c.oid::bigint AS oid,
           n.nspname AS schema,
           c.relname AS name,
           CASE c.relkind
               WHEN 'r' THEN 'table'
               WHEN 'p' THEN 'partitioned_table'
               WHEN 'v' THEN 'view'
               WHEN 'm' THEN 'materialized_view'
               WHEN 'f' THEN 'foreign_table'
           END AS kind,
           obj_description(c.oid, 'pg_class') AS description,
           CASE
               WHEN c.relkind = 'v' THEN NULL
               WHEN c.reltuples >= 0 THEN c.reltuples::bigint
               WHEN c.relkind = 'p' THEN
                   (SELECT sum(l.reltuples)::bigint
                    FROM pg_partition_tree(c.oid) p
                    JOIN pg_class l ON l.oid = p.relid
                    WHERE p.isleaf AND l.reltuples >= 0)
           END AS row_count
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($1)
      AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND NOT c.relispartition
      AND c.relpersistence <> 't'
      AND NOT EXISTS (SELECT FROM pg_depend d
                      WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.objsubid = 0
                        AND d.deptype = 'e')
    ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"
) t

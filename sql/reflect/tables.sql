-- (after relations.sql) The tables, with their row estimates: a partitioned root that ANALYZE has not seen has the sum of
-- its leaves' estimates. "secured": row security of it, or of a table that a view reads, may hide rows from some roles.
, reads (root, relation) AS (
    SELECT oid, oid FROM relations
    UNION
    SELECT s.root, d.refobjid
    FROM reads s
    JOIN pg_class c ON c.oid = s.relation AND c.relkind = 'v'
    JOIN pg_rewrite w ON w.ev_class = s.relation
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
                    AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> s.relation
), secured AS (
    SELECT DISTINCT s.root
    FROM reads s
    JOIN pg_class c ON c.oid = s.relation AND c.relrowsecurity
)
SELECT coalesce(json_agg(t), '[]')::text
FROM (
    SELECT r.oid::bigint AS oid,
           r.nspname AS schema,
           r.relname AS name,
           k.kind,
           obj_description(r.oid, 'pg_class') AS description,
           CASE
               WHEN r.relkind = 'v' THEN NULL
               WHEN r.reltuples >= 0 THEN r.reltuples::bigint
               WHEN r.relkind = 'p' THEN
                   (SELECT sum(l.reltuples)::bigint
                    FROM pg_partition_tree(r.oid) p
                    JOIN pg_class l ON l.oid = p.relid
                    WHERE p.isleaf AND l.reltuples >= 0)
           END AS row_count,
           r.relowner::bigint AS owner,
           r.oid IN (SELECT root FROM secured) AS secured
    FROM relations r
    JOIN kinds k ON k.relkind = r.relkind::text
    ORDER BY r.nspname COLLATE "C", r.relname COLLATE "C"
) t

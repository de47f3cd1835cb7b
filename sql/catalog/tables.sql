-- (after relations.sql) The tables, with their row estimates. For a partitioned root without ANALYZE, the estimate is the
-- sum over its leaves. "guarded" is the reason why no statistics of it may be kept: readers may see different rows.
, reads (root, relation) AS (
    SELECT oid, oid FROM relations
    UNION
    SELECT s.root, d.refobjid
    FROM reads s
    JOIN pg_class c ON c.oid = s.relation AND c.relkind = 'v'
    JOIN pg_rewrite w ON w.ev_class = s.relation
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
                    AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> s.relation
), views AS MATERIALIZED (
    SELECT DISTINCT s.relation AS oid FROM reads s JOIN pg_class c ON c.oid = s.relation AND c.relkind = 'v'
), written AS (
    -- Functions from neither the server nor an extension's library may read anything, with the rights of the reader.
    SELECT DISTINCT v.oid
    FROM views v
    JOIN pg_rewrite w ON w.ev_class = v.oid
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
    LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
    JOIN pg_proc p ON p.oid = CASE WHEN d.refclassid = 'pg_proc'::regclass THEN d.refobjid ELSE o.oprcode END
    JOIN pg_language l ON l.oid = p.prolang AND l.lanname NOT IN ('internal', 'c')
), asking AS (
    -- Functions whose result depends on the reader.
    SELECT v.oid
    FROM views v
    JOIN pg_rewrite w ON w.ev_class = v.oid
    WHERE w.ev_action::text ~ 'SQLVALUEFUNCTION :op (9|10|11|12) '
       OR w.ev_action::text ~ (SELECT ':funcid (' || string_agg(oid::text, '|') || ') '
                               FROM pg_proc
                               WHERE pronamespace = 'pg_catalog'::regnamespace
                                 AND (proname IN ('current_setting', 'pg_has_role', 'row_security_active')
                                      OR proname LIKE 'has\_%\_privilege'))
), guarded AS (
    SELECT s.root,
           CASE
               WHEN bool_or(c.relrowsecurity) THEN 'row security hides some of its rows from some roles'
               WHEN bool_or(c.reloptions && '{security_invoker=true,security_invoker=on,security_invoker=yes,security_invoker=1}')
                   THEN 'it reads with the rights of who reads it (security_invoker)'
               WHEN bool_or(s.relation IN (SELECT oid FROM written)) THEN 'it runs functions that are not the server''s own'
               WHEN bool_or(s.relation IN (SELECT oid FROM asking)) THEN 'it asks who reads it'
           END AS reason
    FROM reads s
    JOIN pg_class c ON c.oid = s.relation
    GROUP BY s.root
), leaves (root, oid) AS (
    SELECT i.inhparent, i.inhrelid
    FROM relations r
    JOIN pg_inherits i ON i.inhparent = r.oid
    WHERE r.relkind = 'p'
    UNION ALL
    SELECT l.root, i.inhrelid FROM leaves l JOIN pg_inherits i ON i.inhparent = l.oid
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
                   (SELECT sum(c.reltuples)::bigint
                    FROM leaves l
                    JOIN pg_class c ON c.oid = l.oid
                    WHERE l.root = r.oid AND c.relkind <> 'p' AND c.reltuples >= 0)
           END AS row_count,
           r.relowner::bigint AS owner,
           (SELECT g.reason FROM guarded g WHERE g.root = r.oid) AS guarded
    FROM relations r
    JOIN kinds k ON k.relkind = r.relkind::text
    ORDER BY r.nspname COLLATE "C", r.relname COLLATE "C"
) t

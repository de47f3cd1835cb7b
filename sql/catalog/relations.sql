-- The start of every query on the catalogs: the tables of the schemas $1 (name[]), without partitions, members of
-- extensions, and temporary tables.
WITH RECURSIVE relations AS MATERIALIZED (
    SELECT c.oid, n.nspname, c.relname, c.relkind, c.relowner, c.reltuples
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($1)
      AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND NOT c.relispartition
      AND c.relpersistence <> 't'
      AND NOT EXISTS (SELECT FROM pg_depend d
                      WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.objsubid = 0
                        AND d.deptype = 'e')
), kinds (relkind, kind) AS (
    VALUES ('r', 'table'), ('p', 'partitioned_table'), ('v', 'view'), ('m', 'materialized_view'), ('f', 'foreign_table')
)

-- The schema, not among $2, that has the most tables with the names $1, at least half, and on which the caller has USAGE.
SELECT n.nspname::text
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = ANY ($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname <> ALL ($2) AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND has_schema_privilege(n.oid, 'USAGE')
GROUP BY n.nspname
HAVING count(*) * 2 >= cardinality($1::text[])
ORDER BY count(*) DESC, n.nspname COLLATE "C"
LIMIT 1

-- Statements in pg_stat_statements (%s is its schema) of this database, with the number of calls, as the caller may see
-- them.
SELECT s.query, sum(s.calls)::bigint
FROM %s.pg_stat_statements s
WHERE s.dbid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND s.query IS NOT NULL
GROUP BY s.query
ORDER BY sum(s.calls) DESC, s.query COLLATE "C"
LIMIT 10000

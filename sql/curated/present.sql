-- The tables among $1 (schemas) and $2 (names) that exist, with their columns, whatever the rights of the caller.
SELECT t.table_schema, t.table_name,
       ARRAY(SELECT a.attname::text FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
FROM unnest($1::text[], $2::text[]) AS t (table_schema, table_name)
JOIN pg_namespace n ON n.nspname = t.table_schema
JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = t.table_name AND c.relkind IN ('r', 'p', 'v', 'm', 'f')

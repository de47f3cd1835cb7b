-- The table $1.$2: its owner; whether the caller is a superuser, for whom the owner reads; its columns; and why a sample of
-- it is refused.
SELECT c.oid,
       c.relowner,
       r.rolsuper,
       ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
       CASE
           WHEN r.rolsuper AND c.relrowsecurity AND (c.relforcerowsecurity OR o.rolsuper)
               THEN 'row security holds back whoever reads it in place of a superuser'
           WHEN NOT r.rolsuper AND (c.relkind = 'v' OR c.relrowsecurity) AND EXISTS (
                    SELECT FROM pg_roles p
                    WHERE p.rolname IN ('pg_write_server_files', 'pg_execute_server_program', 'pg_read_server_files')
                      AND pg_has_role(p.oid, 'USAGE'))
               THEN 'code of its author would run with rights on the server''s files or programs'
       END
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_roles r ON r.rolname = current_user
JOIN pg_roles o ON o.oid = c.relowner
WHERE n.nspname = $1 AND c.relname = $2

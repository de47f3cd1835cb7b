-- Datasources that exist for the caller, with what their live build in the namespace $1 holds for it.
SELECT d.name,
       p.schema_version,
       p.built_at,
       coalesce((SELECT jsonb_object_agg(c.type, c.entries)
                 FROM (SELECT e.type, count(*) AS entries
                       FROM nl2sql.entry e
                       WHERE e.namespace = $1 AND e.build = p.build
                       GROUP BY e.type) c), '{}'),
       EXISTS (SELECT FROM nl2sql.snapshot s
               WHERE s.datasource = d.name AND s.schema_version = p.schema_version)
FROM nl2sql.datasource d
LEFT JOIN nl2sql.pointer p ON p.datasource = d.name AND p.namespace = $1
ORDER BY d.name COLLATE "C"

-- Datasources that exist for the caller, with what their live build in the namespace $1 holds for it.
SELECT d.name,
       p.schema_version,
       p.built_at,
       coalesce(c.counts, '{}'),
       EXISTS (SELECT FROM nl2sql.snapshot s
               WHERE s.datasource = d.name AND s.schema_version = p.schema_version)
FROM nl2sql.datasource d
LEFT JOIN nl2sql.pointer p ON p.datasource = d.name AND p.namespace = $1
LEFT JOIN (SELECT t.build, jsonb_object_agg(t.type, t.entries) AS counts
           FROM (SELECT e.build, e.type, count(*) AS entries
                 FROM nl2sql.entry e
                 WHERE e.namespace = $1
                 GROUP BY e.build, e.type) t
           GROUP BY t.build) c ON c.build = p.build
ORDER BY d.name COLLATE "C"

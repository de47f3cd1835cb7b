-- Datasources that exist for the caller, with their live build in the namespace $1.
SELECT d.name, p.build, p.schema_version, p.built_at
FROM nl2sql.datasource d
LEFT JOIN nl2sql.pointer p ON p.datasource = d.name AND p.namespace = $1
ORDER BY d.name COLLATE "C"

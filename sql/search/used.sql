-- Metrics and terms of the builds $3 in the namespace $2 that exist for the caller, with their similarity to $1 unless that
-- is null.
SELECT e.type, e.metadata, 1 - (e.embedding <=> $1)
FROM nl2sql.entry e
WHERE e.namespace = $2 AND e.build = ANY ($3) AND e.type IN ('schema.metric', 'curated.term')
ORDER BY e.id COLLATE "C"

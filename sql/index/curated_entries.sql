-- The items of curated content that the build $2 in the namespace $1 holds for the caller.
SELECT DISTINCT e.type, coalesce(e.metadata ->> 'query_id', e.metadata ->> 'name', e.metadata ->> 'term'), e.curated_hash
FROM nl2sql.entry e
WHERE e.namespace = $1 AND e.build = $2 AND e.type IN ('curated.verified_query', 'schema.metric', 'curated.term')

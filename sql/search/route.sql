-- What the five signals of routing find near $1 in the builds $3 of the namespace $2: $4 entries for each signal, and all
-- descriptions.
(SELECT 'description', e.datasource, e.id, 1 - (e.embedding <=> $1) AS similarity
 FROM nl2sql.entry e
 WHERE e.namespace = $2 AND e.build = ANY ($3) AND e.type = 'schema.datasource')
UNION ALL
(SELECT 'examples', e.datasource, e.id, 1 - (e.embedding <=> $1) AS similarity
 FROM nl2sql.entry e
 WHERE e.namespace = $2 AND e.build = ANY ($3) AND e.type = 'schema.datasource_example'
 ORDER BY e.embedding <=> $1, e.id COLLATE "C" LIMIT $4)
UNION ALL
(SELECT 'curated', e.datasource, e.id, 1 - (e.embedding <=> $1) AS similarity
 FROM nl2sql.entry e
 WHERE e.namespace = $2 AND e.build = ANY ($3) AND e.type = 'curated.verified_query'
 ORDER BY e.embedding <=> $1, e.id COLLATE "C" LIMIT $4)
UNION ALL
(SELECT 'tables', e.datasource, e.id, 1 - (e.embedding <=> $1) AS similarity
 FROM nl2sql.entry e
 WHERE e.namespace = $2 AND e.build = ANY ($3) AND e.type = 'schema.table'
 ORDER BY e.embedding <=> $1, e.id COLLATE "C" LIMIT $4)
UNION ALL
(SELECT 'columns', e.datasource, e.id, 1 - (e.embedding <=> $1) AS similarity
 FROM nl2sql.entry e
 WHERE e.namespace = $2 AND e.build = ANY ($3) AND e.type = 'schema.column'
 ORDER BY e.embedding <=> $1, e.id COLLATE "C" LIMIT $4)

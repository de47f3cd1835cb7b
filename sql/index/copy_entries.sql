-- Copies the entries of the build $2 in the namespace $1, apart from curated content, to the build $3.
INSERT INTO nl2sql.entry (namespace, build, id, type, datasource, relation, columns, referred, referred_columns,
                          referred_outside, text, text_hash, metadata, embedding)
SELECT e.namespace, $3, e.id, e.type, e.datasource, e.relation, e.columns, e.referred, e.referred_columns,
       e.referred_outside, e.text, e.text_hash, e.metadata, e.embedding
FROM nl2sql.entry e
WHERE e.namespace = $1 AND e.build = $2 AND e.type NOT IN ('curated.verified_query', 'schema.metric', 'curated.term')

-- The $6 entries nearest to $1 in the builds $3 of the namespace $2, limited to the types $4 and the tables $5 (relation
-- numbers) unless these are null. A table's entry includes the foreign keys that the caller may see.
SELECT e.id,
       e.datasource,
       e.type,
       e.text,
       CASE WHEN e.type = 'schema.table' AND keys.foreign_keys IS NOT NULL
            THEN e.metadata || jsonb_build_object('foreign_keys', keys.foreign_keys)
            ELSE e.metadata
       END,
       1 - near.distance,
       e.embedding
FROM (
    SELECT n.build, n.id, n.embedding <=> $1 AS distance
    FROM nl2sql.entry n
    WHERE n.namespace = $2 AND n.build = ANY ($3)
      AND ($4::text[] IS NULL OR n.type = ANY ($4))
      AND ($5::integer[] IS NULL OR n.relation = ANY ($5) OR n.referred = ANY ($5) OR n.read_relations && $5)
    ORDER BY n.embedding <=> $1, n.id COLLATE "C"
    LIMIT $6
) near
JOIN nl2sql.entry e ON e.namespace = $2 AND e.build = near.build AND e.id = near.id
LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
               'constraint', r.metadata -> 'constraint',
               'columns', r.metadata -> 'from_columns',
               'to_table', r.metadata -> 'to_table',
               'to_columns', r.metadata -> 'to_columns') ORDER BY r.id COLLATE "C") AS foreign_keys
    FROM nl2sql.entry r
    WHERE e.type = 'schema.table'
      AND r.namespace = $2 AND r.build = e.build AND r.type = 'schema.relationship' AND r.relation = e.relation
) keys ON true
ORDER BY near.distance, e.id COLLATE "C"

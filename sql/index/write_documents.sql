-- Writes the documents of the build $2 in the namespace $1: for the entries $3 their place, words and known values (a JSON
-- array or null), and for each relationship between tables of the datasource.
INSERT INTO nl2sql.document (build, relation, referred, length, place, datasource, columns, referred_columns, embedding, words, known_values)
SELECT e.build,
       e.relation,
       NULL,
       (SELECT coalesce(sum(cardinality(t.positions)), 0) FROM unnest(w.words) t),
       u.place,
       e.datasource,
       e.columns,
       NULL,
       e.embedding,
       w.words,
       CASE WHEN u.known_values IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(u.known_values::jsonb)) END
FROM unnest($3::text[], $4::smallint[], $5::text[], $6::text[]) AS u (id, place, words, known_values)
JOIN nl2sql.entry e ON e.namespace = $1 AND e.build = $2 AND e.id = u.id
CROSS JOIN LATERAL to_tsvector('pg_catalog.english', u.words) AS w (words)
UNION ALL
SELECT e.build, e.relation, e.referred, 0, 0, e.datasource, e.columns, e.referred_columns, NULL, '', NULL
FROM nl2sql.entry e
WHERE e.namespace = $1 AND e.build = $2 AND e.type = 'schema.relationship' AND e.referred IS NOT NULL AND e.referred <> e.relation

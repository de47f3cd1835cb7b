-- Documents of the build $2 in the namespace $1: entries $3 with place, words and known values (a JSON array or null).
INSERT INTO nl2sql.document (build, datasource, relation, place, columns, length, words, known_values, embedding)
SELECT e.build,
       e.datasource,
       e.relation,
       u.place,
       e.columns,
       (SELECT coalesce(sum(cardinality(t.positions)), 0) FROM unnest(w.words) t),
       w.words,
       CASE WHEN u.known_values IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(u.known_values::jsonb)) END,
       e.embedding
FROM unnest($3::text[], $4::smallint[], $5::text[], $6::text[]) AS u (id, place, words, known_values)
JOIN nl2sql.entry e ON e.namespace = $1 AND e.build = $2 AND e.id = u.id
CROSS JOIN LATERAL to_tsvector('pg_catalog.english', u.words) AS w (words)

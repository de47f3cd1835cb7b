-- Copies the documents of the build $1 to the build $2. Curated content has no documents.
INSERT INTO nl2sql.document (build, relation, referred, length, place, datasource, columns, referred_columns, embedding,
                             words, known_values)
SELECT $2, d.relation, d.referred, d.length, d.place, d.datasource, d.columns, d.referred_columns, d.embedding,
       d.words, d.known_values
FROM nl2sql.document d
WHERE d.build = $1

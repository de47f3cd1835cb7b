-- Puts the documents of the build $1 into the build $2, as they are: none is of curated content.
INSERT INTO nl2sql.document (build, relation, referred, length, place, datasource, columns, referred_columns, embedding,
                             words, known_values)
SELECT $2, d.relation, d.referred, d.length, d.place, d.datasource, d.columns, d.referred_columns, d.embedding,
       d.words, d.known_values
FROM nl2sql.document d
WHERE d.build = $1

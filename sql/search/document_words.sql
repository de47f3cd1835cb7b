-- The documents of the builds $1 that match $2: the table, the place of the column, the words.
SELECT d.relation, d.place, d.words::text
FROM nl2sql.document d
WHERE d.build = ANY ($1) AND d.words @@ $2::tsquery AND d.relation IS NOT NULL AND d.referred IS NULL

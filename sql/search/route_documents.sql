-- For each datasource of the builds $2: the similarity to $1 of its most similar table and column, the number of words in
-- its documents, and the words of documents that match $3.
SELECT d.datasource,
       (max(-(d.embedding <#> $1)) FILTER (WHERE d.relation IS NOT NULL AND d.place = 0 AND d.referred IS NULL))::float8,
       (max(-(d.embedding <#> $1)) FILTER (WHERE d.place > 0))::float8,
       sum(d.length)::bigint,
       array_agg(d.words::text) FILTER (WHERE d.words @@ $3::tsquery)
FROM nl2sql.document d
WHERE d.build = ANY ($2)
GROUP BY d.datasource
ORDER BY d.datasource COLLATE "C"

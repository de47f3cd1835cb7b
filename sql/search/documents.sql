-- Everything of the builds $2 that tables are ranked by, as arrays: the table; the place of the column (0: the table itself)
-- and the number of words, or, of a relationship, the table that it leads to, below 0; the similarity to $1.
SELECT array_agg(d.relation),
       array_agg(CASE WHEN d.referred IS NULL THEN least(d.length, 1000000) * 2048 + d.place ELSE -d.referred END),
       array_agg(coalesce((-(d.embedding <#> $1))::real, 0))
FROM nl2sql.document d
WHERE d.build = ANY ($2) AND d.relation IS NOT NULL

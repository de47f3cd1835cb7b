-- The documents of the builds $2, by which tables are ranked, as three arrays: the table; the place of the column (0: the
-- table itself) packed with the number of words, or for a relationship the referenced table, negated; the similarity to $1.
SELECT array_agg(d.relation),
       array_agg(CASE WHEN d.referred IS NULL THEN least(d.length, 1000000) * 2048 + d.place ELSE -d.referred END),
       array_agg(coalesce((-(d.embedding <#> $1))::real, 0))
FROM nl2sql.document d
WHERE d.build = ANY ($2) AND d.relation IS NOT NULL

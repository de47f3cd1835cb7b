-- Everything of the builds $2 that tables are ranked by, as arrays: table, place of the column (0: the table itself),
-- similarity to $1, number of words, and the words themselves where they share one with $3.
SELECT array_agg(d.relation),
       array_agg(d.place),
       array_agg((-(d.embedding <#> $1))::real),
       array_agg(d.length),
       array_agg(CASE WHEN d.words @@ $3 THEN d.words::text END)
FROM nl2sql.document d
WHERE d.build = ANY ($2) AND d.relation IS NOT NULL

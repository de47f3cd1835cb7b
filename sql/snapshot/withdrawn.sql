-- Versions of the datasource $1, except $2, that hold a value of one of the columns ($3, $4, $5: schemas, tables, columns;
-- $6: personal, so that not even an enum's label or a value listed in a CHECK may be kept).
SELECT DISTINCT t.schema_version
FROM unnest($3::text[], $4::text[], $5::text[], $6::boolean[]) AS f (table_schema, table_name, column_name, personal)
JOIN nl2sql.snapshot_table t ON t.datasource = $1 AND t.schema_version <> $2
                            AND t.table_schema = f.table_schema AND t.table_name = f.table_name
CROSS JOIN LATERAL jsonb_array_elements(t.contract -> 'columns') WITH ORDINALITY AS c (contract, place)
JOIN LATERAL jsonb_array_elements(t.metadata -> 'columns') WITH ORDINALITY AS m (metadata, place) ON m.place = c.place
WHERE c.contract ->> 'name' = f.column_name
  AND (m.metadata -> 'statistics' ?| '{min,max}'
       OR (m.metadata -> 'statistics' ? 'values' AND (f.personal OR m.metadata -> 'statistics' ? 'null_share')))

-- Visibility: what a role may not SELECT does not exist for it. Each sub-select runs once per query, as a hash table, not
-- once per row.

-- SELECT rights of the caller. Both functions look names up at each call and raise no error.

CREATE FUNCTION nl2sql.table_access(table_schema text, table_name text) RETURNS integer
    AS 'MODULE_PATHNAME', 'table_access_wrapper'
    LANGUAGE c STABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION nl2sql.table_access(text, text) IS
    'the caller''s SELECT rights on a table: 2 on the table itself, 1 on some or all of its columns, 0 none or no such table';

CREATE FUNCTION nl2sql.readable_columns(table_schema text, table_name text) RETURNS text[]
    AS 'MODULE_PATHNAME', 'readable_columns_wrapper'
    LANGUAGE c STABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION nl2sql.readable_columns(text, text) IS
    'the columns of a table that the caller may SELECT; then an empty name where these are all that it has today';

ALTER TABLE nl2sql.relation ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON nl2sql.relation FOR SELECT
    USING (live AND nl2sql.table_access(table_schema, table_name) > 0);
GRANT SELECT ON nl2sql.relation TO PUBLIC;

CREATE VIEW nl2sql.readable_column WITH (security_invoker) AS
    SELECT r.id AS relation, c.column_name
    FROM nl2sql.relation r
    CROSS JOIN LATERAL unnest(nl2sql.readable_columns(r.table_schema, r.table_name)) AS c (column_name)
    WHERE nl2sql.table_access(r.table_schema, r.table_name) = 1;
COMMENT ON VIEW nl2sql.readable_column IS
    'columns that the caller may SELECT, of tables that it may not SELECT as such';
COMMENT ON COLUMN nl2sql.readable_column.relation IS 'nl2sql.relation.id of the table';
COMMENT ON COLUMN nl2sql.readable_column.column_name IS 'name of the column, unquoted; empty: these are all columns of the table';
GRANT SELECT ON nl2sql.readable_column TO PUBLIC;

ALTER TABLE nl2sql.datasource ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON nl2sql.datasource FOR SELECT
    USING (name IN (SELECT r.datasource FROM nl2sql.relation r));
GRANT SELECT ON nl2sql.datasource TO PUBLIC;

ALTER TABLE nl2sql.snapshot ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON nl2sql.snapshot FOR SELECT
    USING (datasource IN (SELECT d.name FROM nl2sql.datasource d));
-- The hashes cover the whole schema, including what a role may not see.
GRANT SELECT (datasource, schema_version, engine_type, created_at) ON nl2sql.snapshot TO PUBLIC;

-- A row names tables and columns of several owners, so only the owner of the extension reads it directly.
ALTER TABLE nl2sql.snapshot_table ENABLE ROW LEVEL SECURITY;
ALTER TABLE nl2sql.diff ENABLE ROW LEVEL SECURITY;
ALTER TABLE nl2sql.description ENABLE ROW LEVEL SECURITY;
ALTER TABLE nl2sql.verified_query ENABLE ROW LEVEL SECURITY;
ALTER TABLE nl2sql.metric ENABLE ROW LEVEL SECURITY;
ALTER TABLE nl2sql.term ENABLE ROW LEVEL SECURITY;

ALTER TABLE nl2sql.build ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON nl2sql.build FOR SELECT
    USING (datasource IN (SELECT d.name FROM nl2sql.datasource d));
GRANT SELECT (id, namespace, datasource, schema_version, built_at) ON nl2sql.build TO PUBLIC;

ALTER TABLE nl2sql.pointer ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON nl2sql.pointer FOR SELECT
    USING (datasource IN (SELECT d.name FROM nl2sql.datasource d));
-- The hash covers all curated content, including what a role may not see.
GRANT SELECT (datasource, namespace, build, schema_version, built_at) ON nl2sql.pointer TO PUBLIC;

ALTER TABLE nl2sql.entry ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON nl2sql.entry FOR SELECT
    USING (
        CASE
        WHEN read_relations IS NOT NULL THEN
            datasource IN (SELECT d.name FROM nl2sql.datasource d)
            AND NOT EXISTS (SELECT FROM unnest(read_relations, read_columns) AS u (relation, column_name)
                            WHERE u.relation NOT IN (SELECT r.id FROM nl2sql.relation r
                                                     WHERE nl2sql.table_access(r.table_schema, r.table_name) = 2)
                              AND CASE WHEN u.column_name IS NULL
                                       THEN u.relation NOT IN (SELECT r.id FROM nl2sql.relation r)
                                       ELSE (u.relation, u.column_name) NOT IN
                                            (SELECT rc.relation, rc.column_name FROM nl2sql.readable_column rc)
                                  END)
        WHEN relation IS NULL THEN
            datasource IN (SELECT d.name FROM nl2sql.datasource d)
        ELSE
            (relation IN (SELECT r.id FROM nl2sql.relation r
                          WHERE nl2sql.table_access(r.table_schema, r.table_name) = 2)
             OR (columns <> '{}'
                 AND NOT EXISTS (SELECT FROM unnest(columns) AS c (column_name)
                                 WHERE (entry.relation, c.column_name) NOT IN
                                       (SELECT rc.relation, rc.column_name FROM nl2sql.readable_column rc))))
            AND
            (referred IS NULL
             OR referred IN (SELECT r.id FROM nl2sql.relation r
                             WHERE nl2sql.table_access(r.table_schema, r.table_name) = 2)
             OR NOT EXISTS (SELECT FROM unnest(referred_columns) AS c (column_name)
                            WHERE (entry.referred, c.column_name) NOT IN
                                  (SELECT rc.relation, rc.column_name FROM nl2sql.readable_column rc)))
            -- Few keys reference tables outside the datasource; each is checked separately.
            AND
            (referred_outside IS NULL
             OR nl2sql.table_access(referred_outside[1], referred_outside[2]) = 2
             OR referred_columns <@ nl2sql.readable_columns(referred_outside[1], referred_outside[2]))
        END);
GRANT SELECT ON nl2sql.entry TO PUBLIC;

ALTER TABLE nl2sql.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON nl2sql.document FOR SELECT
    USING (
        CASE
        WHEN relation IS NULL THEN
            datasource IN (SELECT d.name FROM nl2sql.datasource d)
        ELSE
            (relation IN (SELECT r.id FROM nl2sql.relation r
                          WHERE nl2sql.table_access(r.table_schema, r.table_name) = 2)
             OR (columns <> '{}'
                 AND NOT EXISTS (SELECT FROM unnest(columns) AS c (column_name)
                                 WHERE (document.relation, c.column_name) NOT IN
                                       (SELECT rc.relation, rc.column_name FROM nl2sql.readable_column rc))))
            AND
            (referred IS NULL
             OR referred IN (SELECT r.id FROM nl2sql.relation r
                             WHERE nl2sql.table_access(r.table_schema, r.table_name) = 2)
             OR NOT EXISTS (SELECT FROM unnest(referred_columns) AS c (column_name)
                            WHERE (document.referred, c.column_name) NOT IN
                                  (SELECT rc.relation, rc.column_name FROM nl2sql.readable_column rc)))
        END);
GRANT SELECT ON nl2sql.document TO PUBLIC;

-- Only roles that may register see schemas and options. Other roles see the schemas of the tables that they may read.
ALTER TABLE nl2sql.datasource_setting ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON nl2sql.datasource_setting FOR SELECT
    USING (has_function_privilege('@extschema@.nl2sql_register(text,text[],text,text[],text[],jsonb)'::regprocedure, 'EXECUTE')
           AND datasource IN (SELECT d.name FROM nl2sql.datasource d));
GRANT SELECT ON nl2sql.datasource_setting TO PUBLIC;

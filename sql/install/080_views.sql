-- Views: the live builds of the current namespace, limited to what the caller may see.

CREATE FUNCTION nl2sql.current_namespace() RETURNS text
    AS 'MODULE_PATHNAME', 'current_namespace_wrapper'
    LANGUAGE c STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION nl2sql.current_namespace() IS 'returns the namespace of the current embedding model';

CREATE VIEW nl2sql.datasources WITH (security_invoker) AS
    SELECT d.name AS datasource,
           d.kind,
           COALESCE(s.schemas,
                    ARRAY(SELECT DISTINCT r.table_schema FROM nl2sql.relation r
                          WHERE r.datasource = d.name ORDER BY r.table_schema)) AS schemas,
           d.description,
           d.domains,
           d.sample_questions,
           s.options,
           d.created_at,
           d.changed_at,
           (SELECT max(t.touched_at) FROM nl2sql.ddl t WHERE t.table_schema = ANY (s.schemas)) AS ddl_touched_at
    FROM nl2sql.datasource d
    LEFT JOIN nl2sql.datasource_setting s ON s.datasource = d.name;
COMMENT ON VIEW nl2sql.datasources IS 'registered datasources of which the caller may read a table or column';
COMMENT ON COLUMN nl2sql.datasources.datasource IS 'name that every function takes';
COMMENT ON COLUMN nl2sql.datasources.kind IS 'local: schemas of this database';
COMMENT ON COLUMN nl2sql.datasources.schemas IS 'its schemas; for a role that may not register, those of the tables that it may read';
COMMENT ON COLUMN nl2sql.datasources.description IS 'what the datasource holds';
COMMENT ON COLUMN nl2sql.datasources.domains IS 'subjects that the datasource belongs to';
COMMENT ON COLUMN nl2sql.datasources.sample_questions IS 'questions that the datasource answers';
COMMENT ON COLUMN nl2sql.datasources.options IS 'options as registered; null for a role that may not register';
COMMENT ON COLUMN nl2sql.datasources.created_at IS 'when it was registered';
COMMENT ON COLUMN nl2sql.datasources.changed_at IS 'when its registration last changed';
COMMENT ON COLUMN nl2sql.datasources.ddl_touched_at IS
    'when DDL last touched its schemas, while nl2sql_watch_ddl() was on; null for a role that may not register';
GRANT SELECT ON nl2sql.datasources TO PUBLIC;

CREATE VIEW nl2sql.builds WITH (security_invoker) AS
    SELECT b.datasource,
           b.id::text AS build_id,
           b.namespace,
           b.schema_version,
           b.built_at,
           p.build IS NOT NULL AS live
    FROM nl2sql.build b
    LEFT JOIN nl2sql.pointer p ON p.build = b.id;
COMMENT ON VIEW nl2sql.builds IS 'kept builds, in every namespace';
COMMENT ON COLUMN nl2sql.builds.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.builds.build_id IS 'id of the build, as nl2sql_index() returns it';
COMMENT ON COLUMN nl2sql.builds.namespace IS 'namespace that its entries are in';
COMMENT ON COLUMN nl2sql.builds.schema_version IS 'snapshot that it was cut from';
COMMENT ON COLUMN nl2sql.builds.built_at IS 'when it was stored';
COMMENT ON COLUMN nl2sql.builds.live IS 'whether it is the build that searches read';
GRANT SELECT ON nl2sql.builds TO PUBLIC;

CREATE VIEW nl2sql.tables WITH (security_invoker) AS
    SELECT r.datasource,
           r.table_schema,
           r.table_name,
           e.metadata ->> 'description' AS description,
           (e.metadata ->> 'row_count')::bigint AS row_count,
           ARRAY(SELECT jsonb_array_elements_text(e.metadata -> 'primary_key')) AS primary_key,
           (SELECT count(*) FROM nl2sql.document c WHERE c.build = p.build AND c.relation = r.id AND c.place > 0)::integer AS columns,
           p.schema_version
    FROM nl2sql.pointer p
    JOIN nl2sql.relation r ON r.datasource = p.datasource AND r.live
    LEFT JOIN nl2sql.entry e ON e.build = p.build AND e.relation = r.id AND e.type = 'schema.table'
    WHERE p.namespace = nl2sql.current_namespace();
COMMENT ON VIEW nl2sql.tables IS 'tables of live builds';
COMMENT ON COLUMN nl2sql.tables.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.tables.table_schema IS 'schema of the table';
COMMENT ON COLUMN nl2sql.tables.table_name IS 'name of the table';
COMMENT ON COLUMN nl2sql.tables.description IS 'what it holds; null for a role that may not read all of its columns';
COMMENT ON COLUMN nl2sql.tables.row_count IS 'number of rows, counted or estimated; null for a role that may not read all of its columns';
COMMENT ON COLUMN nl2sql.tables.primary_key IS 'columns of its primary key, in key order; empty for a role that may not read all of its columns';
COMMENT ON COLUMN nl2sql.tables.columns IS 'how many columns the caller may read';
COMMENT ON COLUMN nl2sql.tables.schema_version IS 'schema_version of the live build';
GRANT SELECT ON nl2sql.tables TO PUBLIC;

CREATE VIEW nl2sql.columns WITH (security_invoker) AS
    SELECT r.datasource,
           r.table_schema,
           r.table_name,
           e.metadata ->> 'column' AS column_name,
           e.metadata ->> 'dtype' AS data_type,
           e.metadata ->> 'description' AS description,
           coalesce((e.metadata ->> 'pii')::boolean, false) AS pii,
           (e.metadata ->> 'null_share')::double precision AS null_share,
           (e.metadata ->> 'distinct_count')::bigint AS distinct_count,
           coalesce((e.metadata ->> 'estimated')::boolean, false) AS estimated,
           e.metadata ->> 'min' AS min,
           e.metadata ->> 'max' AS max,
           CASE WHEN e.metadata ? 'values' THEN ARRAY(SELECT jsonb_array_elements_text(e.metadata -> 'values')) END AS known_values,
           p.schema_version
    FROM nl2sql.pointer p
    JOIN nl2sql.entry e ON e.build = p.build AND e.type = 'schema.column'
    JOIN nl2sql.relation r ON r.id = e.relation
    WHERE p.namespace = nl2sql.current_namespace();
COMMENT ON VIEW nl2sql.columns IS 'columns of live builds, with their statistics';
COMMENT ON COLUMN nl2sql.columns.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.columns.table_schema IS 'schema of the table';
COMMENT ON COLUMN nl2sql.columns.table_name IS 'name of the table';
COMMENT ON COLUMN nl2sql.columns.column_name IS 'name of the column';
COMMENT ON COLUMN nl2sql.columns.data_type IS 'type, as SQL writes it';
COMMENT ON COLUMN nl2sql.columns.description IS 'what it holds';
COMMENT ON COLUMN nl2sql.columns.pii IS 'whether it holds personal data, of which no value is stored';
COMMENT ON COLUMN nl2sql.columns.null_share IS 'share of nulls, 0 to 1';
COMMENT ON COLUMN nl2sql.columns.distinct_count IS 'number of distinct values';
COMMENT ON COLUMN nl2sql.columns.estimated IS 'whether the figures are estimates';
COMMENT ON COLUMN nl2sql.columns.min IS 'minimum, as text';
COMMENT ON COLUMN nl2sql.columns.max IS 'maximum, as text';
COMMENT ON COLUMN nl2sql.columns.known_values IS 'labels, listed values or frequent values';
COMMENT ON COLUMN nl2sql.columns.schema_version IS 'schema_version of the live build';
GRANT SELECT ON nl2sql.columns TO PUBLIC;

CREATE VIEW nl2sql.relationships WITH (security_invoker) AS
    SELECT p.datasource,
           e.metadata ->> 'constraint' AS constraint_name,
           e.metadata ->> 'from_table' AS from_table,
           ARRAY(SELECT jsonb_array_elements_text(e.metadata -> 'from_columns')) AS from_columns,
           e.metadata ->> 'to_table' AS to_table,
           ARRAY(SELECT jsonb_array_elements_text(e.metadata -> 'to_columns')) AS to_columns,
           e.metadata ->> 'cardinality' AS cardinality,
           p.schema_version
    FROM nl2sql.pointer p
    JOIN nl2sql.entry e ON e.build = p.build AND e.type = 'schema.relationship'
    WHERE p.namespace = nl2sql.current_namespace();
COMMENT ON VIEW nl2sql.relationships IS 'foreign keys of live builds';
COMMENT ON COLUMN nl2sql.relationships.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.relationships.constraint_name IS 'name of the foreign key';
COMMENT ON COLUMN nl2sql.relationships.from_table IS 'referring table, as a relation key';
COMMENT ON COLUMN nl2sql.relationships.from_columns IS 'its columns, in key order';
COMMENT ON COLUMN nl2sql.relationships.to_table IS 'referred table, as a relation key';
COMMENT ON COLUMN nl2sql.relationships.to_columns IS 'its columns, in key order';
COMMENT ON COLUMN nl2sql.relationships.cardinality IS 'many_to_one or one_to_one';
COMMENT ON COLUMN nl2sql.relationships.schema_version IS 'schema_version of the live build';
GRANT SELECT ON nl2sql.relationships TO PUBLIC;

CREATE VIEW nl2sql.metrics WITH (security_invoker) AS
    SELECT p.datasource,
           e.metadata ->> 'name' AS name,
           e.metadata ->> 'description' AS description,
           e.metadata ->> 'expression' AS expression,
           e.metadata ->> 'table' AS table_key
    FROM nl2sql.pointer p
    JOIN nl2sql.entry e ON e.build = p.build AND e.type = 'schema.metric'
    WHERE p.namespace = nl2sql.current_namespace();
COMMENT ON VIEW nl2sql.metrics IS 'metrics of live builds';
COMMENT ON COLUMN nl2sql.metrics.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.metrics.name IS 'name of the metric';
COMMENT ON COLUMN nl2sql.metrics.description IS 'what it measures';
COMMENT ON COLUMN nl2sql.metrics.expression IS 'how it is computed';
COMMENT ON COLUMN nl2sql.metrics.table_key IS 'table that it is computed on, as a relation key';
GRANT SELECT ON nl2sql.metrics TO PUBLIC;

CREATE VIEW nl2sql.health WITH (security_invoker) AS
    SELECT * FROM @extschema@.nl2sql_health();
COMMENT ON VIEW nl2sql.health IS 'nl2sql_health() of every datasource';
COMMENT ON COLUMN nl2sql.health.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.health.status IS 'missing, empty, stale or ok';
COMMENT ON COLUMN nl2sql.health.index_version IS 'schema_version of the live build';
COMMENT ON COLUMN nl2sql.health.built_at IS 'when the live build was written';
COMMENT ON COLUMN nl2sql.health.entries IS 'entries of the live build';
COMMENT ON COLUMN nl2sql.health.counts IS 'entries by chunk type';
COMMENT ON COLUMN nl2sql.health.namespace IS 'the current namespace';
COMMENT ON COLUMN nl2sql.health.embedding_model IS 'the current embedding model';
COMMENT ON COLUMN nl2sql.health.problems IS 'why the status is not ok, with the calls that fix it';
COMMENT ON COLUMN nl2sql.health.warnings IS 'what else to know, with the calls that fix it';
GRANT SELECT ON nl2sql.health TO PUBLIC;

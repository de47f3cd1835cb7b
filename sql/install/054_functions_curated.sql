-- Functions: curated content

CREATE FUNCTION @extschema@.nl2sql_curated_import(document text, replace boolean DEFAULT true)
    RETURNS TABLE (
        datasource text,
        verified_queries integer,
        metrics integer,
        terms integer
    )
    AS 'MODULE_PATHNAME', 'nl2sql_curated_import_wrapper'
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 3 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_curated_import(text, boolean) IS
    'stores verified queries, metrics and a glossary from YAML or JSON; replace removes what the named datasources had';
REVOKE EXECUTE ON FUNCTION @extschema@.nl2sql_curated_import(text, boolean) FROM PUBLIC;

CREATE FUNCTION @extschema@.nl2sql_verified_query(
    datasource text,
    id text,
    questions text[],
    sql text,
    description text DEFAULT NULL,
    params jsonb DEFAULT NULL
) RETURNS void
    AS 'MODULE_PATHNAME', 'nl2sql_verified_query_wrapper'
    LANGUAGE c VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_verified_query(text, text, text[], text, text, jsonb) IS
    'stores one verified query; replaces one with the same id';
REVOKE EXECUTE ON FUNCTION @extschema@.nl2sql_verified_query(text, text, text[], text, text, jsonb) FROM PUBLIC;

CREATE FUNCTION @extschema@.nl2sql_remove_verified_query(datasource text, id text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'nl2sql_remove_verified_query_wrapper'
    LANGUAGE c VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_remove_verified_query(text, text) IS 'removes a verified query; returns false if it does not exist';
REVOKE EXECUTE ON FUNCTION @extschema@.nl2sql_remove_verified_query(text, text) FROM PUBLIC;

CREATE FUNCTION @extschema@.nl2sql_curated_export(datasource text DEFAULT NULL) RETURNS text
    AS 'MODULE_PATHNAME', 'nl2sql_curated_export_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_curated_export(text) IS
    'returns verified queries, metrics and glossary as YAML that nl2sql_curated_import() reads; without a name, of every datasource';

CREATE FUNCTION @extschema@.nl2sql_curated_validate(datasource text DEFAULT NULL)
    RETURNS TABLE (
        datasource text,
        query_id text,
        problem text
    )
    AS 'MODULE_PATHNAME', 'nl2sql_curated_validate_wrapper'
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 10 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_curated_validate(text) IS
    'checks curated content against the live snapshot and the server; no rows: no problems';

CREATE FUNCTION @extschema@.nl2sql_match(question text, datasources text[] DEFAULT NULL, k integer DEFAULT 5)
    RETURNS TABLE (
        datasource text,
        query_id text,
        similarity double precision,
        phrasing text,
        description text,
        sql text,
        params jsonb
    )
    AS 'MODULE_PATHNAME', 'nl2sql_match_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 100000 ROWS 5 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_match(text, text[], integer) IS
    'returns the verified queries that ask the most similar question, with proposed values for their params';

CREATE FUNCTION @extschema@.nl2sql_bind(datasource text, query_id text, params jsonb DEFAULT NULL) RETURNS text
    AS 'MODULE_PATHNAME', 'nl2sql_bind_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_bind(text, text, jsonb) IS
    'returns the SQL of a verified query with checked, quoted values in place of its params';

CREATE FUNCTION @extschema@.nl2sql_suggest_queries(datasource text, min_calls integer DEFAULT 5, "limit" integer DEFAULT 50)
    RETURNS TABLE (
        query_id text,
        calls bigint,
        tables text[],
        columns text[],
        sql text,
        document text
    )
    AS 'MODULE_PATHNAME', 'nl2sql_suggest_queries_wrapper'
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 50 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_suggest_queries(text, integer, integer) IS
    'drafts verified queries to edit and import, from what pg_stat_statements has seen most';

-- Functions: health and versions

CREATE FUNCTION @extschema@.nl2sql_health(datasource text DEFAULT NULL)
    RETURNS TABLE (
        datasource text,
        status text,
        index_version text,
        built_at timestamptz,
        entries integer,
        counts jsonb,
        namespace text,
        embedding_model text,
        problems text[],
        warnings text[]
    )
    AS 'MODULE_PATHNAME', 'nl2sql_health_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_health(text) IS
    'reports whether the index of each datasource is sound, worst first: missing, empty, stale, ok';

CREATE FUNCTION @extschema@.nl2sql_versions(datasource text)
    RETURNS TABLE (
        schema_version text,
        fingerprint text,
        created_at timestamptz,
        live boolean,
        has_diff boolean
    )
    AS 'MODULE_PATHNAME', 'nl2sql_versions_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 3 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_versions(text) IS 'returns the kept snapshots of a datasource, newest first';

CREATE FUNCTION @extschema@.nl2sql_snapshot(datasource text, schema_version text DEFAULT NULL) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'nl2sql_snapshot_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_snapshot(text, text) IS
    'returns a datasource''s schema as a snapshot stores it; without a version, the live one';

CREATE FUNCTION @extschema@.nl2sql_diff(datasource text, from_version text, to_version text DEFAULT NULL) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'nl2sql_diff_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_diff(text, text, text) IS
    'compares the structure of two versions; without a second version, with the schema as it is now';

CREATE FUNCTION @extschema@.nl2sql_check(datasource text DEFAULT NULL)
    RETURNS TABLE (
        datasource text,
        status text,
        live_version text,
        diff jsonb,
        impact jsonb,
        error text
    )
    AS 'MODULE_PATHNAME', 'nl2sql_check_wrapper'
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 10 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_check(text) IS
    'reports whether the schema of each datasource has drifted since its live snapshot, and what that breaks';

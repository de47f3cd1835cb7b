-- Functions: building

CREATE FUNCTION @extschema@.nl2sql_index(
    datasource text DEFAULT NULL,
    curated_only boolean DEFAULT false,
    enrich boolean DEFAULT false
) RETURNS TABLE (
    datasource text,
    status text,
    build_id text,
    schema_version text,
    entries integer,
    counts jsonb,
    embedded integer,
    reused integer,
    issues jsonb,
    seconds double precision,
    error text
)
    AS 'MODULE_PATHNAME', 'nl2sql_index_wrapper'
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_index(text, boolean, boolean) IS
    'reads a datasource''s schema and builds its index; without a name, of every registered datasource in turn';
REVOKE EXECUTE ON FUNCTION @extschema@.nl2sql_index(text, boolean, boolean) FROM PUBLIC;

CREATE FUNCTION @extschema@.nl2sql_prune() RETURNS TABLE (namespace text, entries bigint)
    AS 'MODULE_PATHNAME', 'nl2sql_prune_wrapper'
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_prune() IS 'drops every namespace except the current one';
REVOKE EXECUTE ON FUNCTION @extschema@.nl2sql_prune() FROM PUBLIC;

-- Looks up the schema of pgvector, to qualify the return type.
DO $$
BEGIN
    EXECUTE format(
        $function$
            CREATE FUNCTION %s.nl2sql_embed(text) RETURNS %I.vector
                AS 'MODULE_PATHNAME', 'nl2sql_embed_wrapper'
                LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 100000 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off
        $function$,
        '@extschema@',
        (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'));
END
$$;
COMMENT ON FUNCTION @extschema@.nl2sql_embed(text) IS 'returns the vector of a text';

-- Functions: registering
--
-- Every function has a fixed search_path and runs its queries without JIT: the sub-selects of row security raise the cost
-- estimates above the threshold of JIT, but no query runs long enough to benefit. Quoting is fixed, since it affects the
-- names of types in texts and fingerprints.

CREATE FUNCTION @extschema@.nl2sql_register(
    datasource text,
    schemas text[] DEFAULT NULL,
    description text DEFAULT NULL,
    domains text[] DEFAULT NULL,
    sample_questions text[] DEFAULT NULL,
    options jsonb DEFAULT NULL
) RETURNS void
    AS 'MODULE_PATHNAME', 'nl2sql_register_wrapper'
    LANGUAGE c VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_register(text, text[], text, text[], text[], jsonb) IS
    'registers a datasource or changes it; a NULL argument keeps the stored value';
REVOKE EXECUTE ON FUNCTION @extschema@.nl2sql_register(text, text[], text, text[], text[], jsonb) FROM PUBLIC;

CREATE FUNCTION @extschema@.nl2sql_unregister(datasource text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'nl2sql_unregister_wrapper'
    LANGUAGE c VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_unregister(text) IS
    'removes a datasource with all its snapshots, builds and pointers; returns false if it does not exist';
REVOKE EXECUTE ON FUNCTION @extschema@.nl2sql_unregister(text) FROM PUBLIC;

CREATE FUNCTION @extschema@.nl2sql_describe(
    datasource text,
    table_name text,
    description text,
    column_name text DEFAULT NULL,
    synonyms text[] DEFAULT NULL
) RETURNS void
    AS 'MODULE_PATHNAME', 'nl2sql_describe_wrapper'
    LANGUAGE c VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_describe(text, text, text, text, text[]) IS
    'describes a table or column in place of its comment, from the next build on; NULL removes the description';
REVOKE EXECUTE ON FUNCTION @extschema@.nl2sql_describe(text, text, text, text, text[]) FROM PUBLIC;

CREATE FUNCTION @extschema@.nl2sql_watch_ddl() RETURNS boolean
    AS 'MODULE_PATHNAME', 'nl2sql_watch_ddl_wrapper'
    LANGUAGE c VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_watch_ddl() IS
    'starts recording when DDL touches a datasource''s schemas; returns false if already on';
REVOKE EXECUTE ON FUNCTION @extschema@.nl2sql_watch_ddl() FROM PUBLIC;

CREATE FUNCTION @extschema@.nl2sql_unwatch_ddl() RETURNS boolean
    AS 'MODULE_PATHNAME', 'nl2sql_unwatch_ddl_wrapper'
    LANGUAGE c VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_unwatch_ddl() IS
    'stops recording DDL; returns false if already off';
REVOKE EXECUTE ON FUNCTION @extschema@.nl2sql_unwatch_ddl() FROM PUBLIC;

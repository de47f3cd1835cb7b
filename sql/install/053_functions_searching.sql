-- Functions: searching

CREATE FUNCTION @extschema@.nl2sql_mmr(
    query text,
    k integer DEFAULT 8,
    lambda double precision DEFAULT 0.7,
    types text[] DEFAULT NULL,
    datasources text[] DEFAULT NULL,
    tables text[] DEFAULT NULL,
    fetch_k integer DEFAULT NULL
) RETURNS TABLE (
    rank integer,
    id text,
    datasource text,
    type text,
    text text,
    metadata jsonb,
    similarity double precision,
    pick integer,
    mmr_score double precision
)
    AS 'MODULE_PATHNAME', 'nl2sql_mmr_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 100000 ROWS 8 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_mmr(text, integer, double precision, text[], text[], text[], integer) IS
    'returns entries near the query and unlike each other, by maximal marginal relevance';

CREATE FUNCTION @extschema@.nl2sql_mmr_explain(
    query text,
    k integer DEFAULT 8,
    lambda double precision DEFAULT 0.7,
    types text[] DEFAULT NULL,
    datasources text[] DEFAULT NULL,
    tables text[] DEFAULT NULL,
    fetch_k integer DEFAULT NULL
) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'nl2sql_mmr_explain_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 100000 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_mmr_explain(text, integer, double precision, text[], text[], text[], integer) IS
    'explains the rows of nl2sql_mmr() with the same arguments';

CREATE FUNCTION @extschema@.nl2sql_route(
    question text,
    candidates integer DEFAULT 3,
    floor_ratio double precision DEFAULT 0.5,
    datasources text[] DEFAULT NULL,
    fusion text DEFAULT NULL
) RETURNS TABLE (
    datasource text,
    score double precision,
    similarity double precision,
    ranks jsonb
)
    AS 'MODULE_PATHNAME', 'nl2sql_route_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 100000 ROWS 3 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_route(text, integer, double precision, text[], text) IS
    'returns the datasources that a question is most likely about, best first';

CREATE FUNCTION @extschema@.nl2sql_route_explain(
    question text,
    candidates integer DEFAULT 3,
    floor_ratio double precision DEFAULT 0.5,
    datasources text[] DEFAULT NULL,
    fusion text DEFAULT NULL
) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'nl2sql_route_explain_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 100000 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_route_explain(text, integer, double precision, text[], text) IS
    'explains the rows of nl2sql_route() with the same arguments; ids and names only';

CREATE FUNCTION @extschema@.nl2sql_retrieve(
    datasource text,
    question text,
    sub_query jsonb DEFAULT NULL,
    schema_version text DEFAULT NULL,
    table_k integer DEFAULT 8,
    planning_k integer DEFAULT 12,
    strategy text DEFAULT 'fused'
) RETURNS TABLE (
    rank integer,
    table_schema text,
    table_name text,
    preferred boolean,
    definition jsonb,
    via text
)
    AS 'MODULE_PATHNAME', 'nl2sql_retrieve_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 100000 ROWS 8 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_retrieve(text, text, jsonb, text, integer, integer, text) IS
    'returns the tables, columns and joins that a question needs, as the snapshot defines them';

CREATE FUNCTION @extschema@.nl2sql_retrieve_explain(
    datasource text,
    question text,
    sub_query jsonb DEFAULT NULL,
    schema_version text DEFAULT NULL,
    table_k integer DEFAULT 8,
    planning_k integer DEFAULT 12,
    strategy text DEFAULT 'fused'
) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'nl2sql_retrieve_explain_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 100000 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_retrieve_explain(text, text, jsonb, text, integer, integer, text) IS
    'explains the rows of nl2sql_retrieve() with the same arguments; names only';

CREATE FUNCTION @extschema@.nl2sql_schema_prompt(datasource text, question text, sub_query jsonb DEFAULT NULL) RETURNS text
    AS 'MODULE_PATHNAME', 'nl2sql_schema_prompt_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 100000 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_schema_prompt(text, text, jsonb) IS
    'returns the retrieved tables as text for a model''s prompt: one compact JSON object per line';

CREATE FUNCTION @extschema@.nl2sql_catalog(datasource text, budget_tokens integer DEFAULT 150000) RETURNS text
    AS 'MODULE_PATHNAME', 'nl2sql_catalog_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_catalog(text, integer) IS 'returns one line per table, within a budget of tokens';

CREATE FUNCTION @extschema@.nl2sql_lookup(datasource text, tables text[], sample_rows integer DEFAULT 0)
    RETURNS TABLE (
        requested text,
        table_schema text,
        table_name text,
        definition jsonb,
        sample_rows jsonb,
        note text
    )
    AS 'MODULE_PATHNAME', 'nl2sql_lookup_wrapper'
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 10 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_lookup(text, text[], integer) IS
    'returns the definitions of tables by name, optionally with sample rows that the caller may read';

CREATE FUNCTION @extschema@.nl2sql_search_tables(
    query text,
    datasource text DEFAULT NULL,
    k integer DEFAULT 10,
    strategy text DEFAULT 'fused'
) RETURNS TABLE (
    rank integer,
    datasource text,
    table_schema text,
    table_name text,
    similarity double precision,
    score double precision,
    summary text
)
    AS 'MODULE_PATHNAME', 'nl2sql_search_tables_wrapper'
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 100000 ROWS 10 SET search_path = pg_catalog, pg_temp SET jit = off SET quote_all_identifiers = off;
COMMENT ON FUNCTION @extschema@.nl2sql_search_tables(text, text, integer, text) IS
    'returns the tables that a query is most likely about, in one datasource or in all';

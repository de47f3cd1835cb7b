//! The public functions.

/// Who may call a function, and whether it writes.
#[derive(PartialEq, Debug)]
pub enum Kind {
    /// Everybody; changes nothing.
    Reads,
    /// Everybody, but not in parallel workers, because it starts subtransactions.
    Tries,
    /// Roles to which a DBA has granted EXECUTE.
    Writes,
}
use Kind::{Reads, Tries, Writes};

/// Name, arguments and result, as the manual lists them.
pub const FUNCTIONS: &[(&str, &str, &str, Kind)] = &[
    ("nl2sql_bind", "datasource text, query_id text, params jsonb DEFAULT NULL", "text", Reads),
    ("nl2sql_catalog", "datasource text, budget_tokens integer DEFAULT 150000", "text", Reads),
    (
        "nl2sql_check",
        "datasource text DEFAULT NULL",
        "TABLE(datasource text, status text, live_version text, diff jsonb, impact jsonb, error text)",
        Tries,
    ),
    ("nl2sql_curated_export", "datasource text DEFAULT NULL", "text", Reads),
    (
        "nl2sql_curated_import",
        "document text, replace boolean DEFAULT true",
        "TABLE(datasource text, verified_queries integer, metrics integer, terms integer)",
        Writes,
    ),
    (
        "nl2sql_curated_validate",
        "datasource text DEFAULT NULL",
        "TABLE(datasource text, query_id text, problem text)",
        Tries,
    ),
    (
        "nl2sql_describe",
        "datasource text, table_name text, description text, column_name text DEFAULT NULL, synonyms text[] DEFAULT NULL",
        "void",
        Writes,
    ),
    ("nl2sql_diff", "datasource text, from_version text, to_version text DEFAULT NULL", "jsonb", Reads),
    ("nl2sql_embed", "text", "vector", Reads),
    (
        "nl2sql_health",
        "datasource text DEFAULT NULL",
        "TABLE(datasource text, status text, index_version text, built_at timestamptz, entries integer, counts jsonb, \
         namespace text, embedding_model text, problems text[], warnings text[])",
        Reads,
    ),
    (
        "nl2sql_index",
        "datasource text DEFAULT NULL, curated_only boolean DEFAULT false, enrich boolean DEFAULT false",
        "TABLE(datasource text, status text, build_id text, schema_version text, entries integer, counts jsonb, \
         embedded integer, reused integer, issues jsonb, seconds double precision, error text)",
        Writes,
    ),
    (
        "nl2sql_lookup",
        "datasource text, tables text[], sample_rows integer DEFAULT 0",
        "TABLE(requested text, table_schema text, table_name text, definition jsonb, sample_rows jsonb, note text)",
        Tries,
    ),
    (
        "nl2sql_match",
        "question text, datasources text[] DEFAULT NULL, k integer DEFAULT 5",
        "TABLE(datasource text, query_id text, similarity double precision, phrasing text, description text, sql text, params jsonb)",
        Reads,
    ),
    (
        "nl2sql_mmr",
        "query text, k integer DEFAULT 8, lambda double precision DEFAULT 0.7, types text[] DEFAULT NULL, \
         datasources text[] DEFAULT NULL, tables text[] DEFAULT NULL, fetch_k integer DEFAULT NULL",
        "TABLE(rank integer, id text, datasource text, type text, text text, metadata jsonb, \
         similarity double precision, pick integer, mmr_score double precision)",
        Reads,
    ),
    (
        "nl2sql_mmr_explain",
        "query text, k integer DEFAULT 8, lambda double precision DEFAULT 0.7, types text[] DEFAULT NULL, \
         datasources text[] DEFAULT NULL, tables text[] DEFAULT NULL, fetch_k integer DEFAULT NULL",
        "jsonb",
        Reads,
    ),
    ("nl2sql_prune", "", "TABLE(namespace text, entries bigint)", Writes),
    (
        "nl2sql_register",
        "datasource text, schemas text[] DEFAULT NULL, description text DEFAULT NULL, domains text[] DEFAULT NULL, \
         sample_questions text[] DEFAULT NULL, options jsonb DEFAULT NULL",
        "void",
        Writes,
    ),
    ("nl2sql_remove_verified_query", "datasource text, id text", "boolean", Writes),
    (
        "nl2sql_retrieve",
        "datasource text, question text, sub_query jsonb DEFAULT NULL, schema_version text DEFAULT NULL, table_k integer DEFAULT 8, \
         planning_k integer DEFAULT 12, strategy text DEFAULT 'fused'",
        "TABLE(rank integer, table_schema text, table_name text, preferred boolean, definition jsonb, via text)",
        Reads,
    ),
    (
        "nl2sql_retrieve_explain",
        "datasource text, question text, sub_query jsonb DEFAULT NULL, schema_version text DEFAULT NULL, table_k integer DEFAULT 8, \
         planning_k integer DEFAULT 12, strategy text DEFAULT 'fused'",
        "jsonb",
        Reads,
    ),
    (
        "nl2sql_route",
        "question text, candidates integer DEFAULT 3, floor_ratio double precision DEFAULT 0.5, \
         datasources text[] DEFAULT NULL, fusion text DEFAULT NULL",
        "TABLE(datasource text, score double precision, similarity double precision, ranks jsonb)",
        Reads,
    ),
    (
        "nl2sql_route_explain",
        "question text, candidates integer DEFAULT 3, floor_ratio double precision DEFAULT 0.5, \
         datasources text[] DEFAULT NULL, fusion text DEFAULT NULL",
        "jsonb",
        Reads,
    ),
    ("nl2sql_schema_prompt", "datasource text, question text, sub_query jsonb DEFAULT NULL", "text", Reads),
    (
        "nl2sql_search_tables",
        "query text, datasource text DEFAULT NULL, k integer DEFAULT 10, strategy text DEFAULT 'fused'",
        "TABLE(rank integer, datasource text, table_schema text, table_name text, similarity double precision, \
         score double precision, summary text)",
        Reads,
    ),
    ("nl2sql_snapshot", "datasource text, schema_version text DEFAULT NULL", "jsonb", Reads),
    (
        "nl2sql_suggest_queries",
        "datasource text, min_calls integer DEFAULT 5, limit integer DEFAULT 50",
        "TABLE(query_id text, calls bigint, tables text[], columns text[], sql text, document text)",
        Tries,
    ),
    ("nl2sql_unregister", "datasource text", "boolean", Writes),
    ("nl2sql_unwatch_ddl", "", "boolean", Writes),
    (
        "nl2sql_verified_query",
        "datasource text, id text, questions text[], sql text, description text DEFAULT NULL, params jsonb DEFAULT NULL",
        "void",
        Writes,
    ),
    (
        "nl2sql_versions",
        "datasource text",
        "TABLE(schema_version text, fingerprint text, created_at timestamptz, live boolean, has_diff boolean)",
        Reads,
    ),
    ("nl2sql_watch_ddl", "", "boolean", Writes),
];

-- Curated content: verified queries, metrics, glossary.

CREATE TABLE nl2sql.verified_query (
    datasource text NOT NULL REFERENCES nl2sql.datasource (name) ON DELETE CASCADE,
    id text NOT NULL,
    description text,
    questions text[] NOT NULL,
    params jsonb NOT NULL DEFAULT '{}',
    sql text NOT NULL,
    reads jsonb NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (datasource, id)
);
COMMENT ON TABLE nl2sql.verified_query IS 'questions with the right SQL; nl2sql_curated_export() shows each role its part';
COMMENT ON COLUMN nl2sql.verified_query.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.verified_query.id IS 'name of the verified query';
COMMENT ON COLUMN nl2sql.verified_query.description IS 'what it answers';
COMMENT ON COLUMN nl2sql.verified_query.questions IS 'phrasings; {name} stands for a param';
COMMENT ON COLUMN nl2sql.verified_query.params IS 'params by name: type, default, min, max, choices, example';
COMMENT ON COLUMN nl2sql.verified_query.sql IS 'a statement that only reads; :name stands for a param';
COMMENT ON COLUMN nl2sql.verified_query.reads IS 'tables and columns that it reads; row security depends on it';
COMMENT ON COLUMN nl2sql.verified_query.changed_at IS 'when it was stored';

CREATE TABLE nl2sql.metric (
    datasource text NOT NULL REFERENCES nl2sql.datasource (name) ON DELETE CASCADE,
    name text NOT NULL,
    description text,
    expression text NOT NULL,
    table_name text NOT NULL,
    reads jsonb NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (datasource, name)
);
COMMENT ON TABLE nl2sql.metric IS 'metrics and how they are computed; nl2sql.metrics shows each role its part';
COMMENT ON COLUMN nl2sql.metric.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.metric.name IS 'name of the metric';
COMMENT ON COLUMN nl2sql.metric.description IS 'what it measures';
COMMENT ON COLUMN nl2sql.metric.expression IS 'how it is computed from the rows of the table';
COMMENT ON COLUMN nl2sql.metric.table_name IS 'table, as written in the document';
COMMENT ON COLUMN nl2sql.metric.reads IS 'tables and columns that it reads; row security depends on it';
COMMENT ON COLUMN nl2sql.metric.changed_at IS 'when it was stored';

CREATE TABLE nl2sql.term (
    datasource text NOT NULL REFERENCES nl2sql.datasource (name) ON DELETE CASCADE,
    term text NOT NULL,
    definition text NOT NULL,
    synonyms text[] NOT NULL DEFAULT '{}',
    tables text[] NOT NULL DEFAULT '{}',
    reads jsonb NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (datasource, term)
);
COMMENT ON TABLE nl2sql.term IS 'the glossary: words that the team uses and what they mean';
COMMENT ON COLUMN nl2sql.term.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.term.term IS 'the word';
COMMENT ON COLUMN nl2sql.term.definition IS 'what it means';
COMMENT ON COLUMN nl2sql.term.synonyms IS 'other words for it';
COMMENT ON COLUMN nl2sql.term.tables IS 'tables that it is about, as written in the document';
COMMENT ON COLUMN nl2sql.term.reads IS 'the same tables, resolved; row security depends on it';
COMMENT ON COLUMN nl2sql.term.changed_at IS 'when it was stored';

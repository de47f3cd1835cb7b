-- The index: builds, the pointer to the live one, entries, and documents.

CREATE TABLE nl2sql.build (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace text NOT NULL,
    datasource text NOT NULL REFERENCES nl2sql.datasource (name) ON DELETE CASCADE,
    schema_version text NOT NULL,
    built_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    issues jsonb NOT NULL DEFAULT '[]'
);
CREATE INDEX build_datasource_idx ON nl2sql.build (datasource, namespace);
COMMENT ON TABLE nl2sql.build IS 'all entries of one datasource written together in one namespace';
COMMENT ON COLUMN nl2sql.build.id IS 'build_id';
COMMENT ON COLUMN nl2sql.build.namespace IS 'namespace that its entries are in';
COMMENT ON COLUMN nl2sql.build.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.build.schema_version IS 'snapshot that it was cut from';
COMMENT ON COLUMN nl2sql.build.built_at IS 'when it was stored';
COMMENT ON COLUMN nl2sql.build.issues IS 'what could not be read; visible to the owner only, since it names tables';

CREATE TABLE nl2sql.pointer (
    datasource text NOT NULL REFERENCES nl2sql.datasource (name) ON DELETE CASCADE,
    namespace text NOT NULL,
    build bigint NOT NULL REFERENCES nl2sql.build (id),
    schema_version text NOT NULL,
    built_at timestamptz NOT NULL,
    curated_hash text,
    PRIMARY KEY (datasource, namespace)
);
CREATE INDEX pointer_build_idx ON nl2sql.pointer (build);
COMMENT ON TABLE nl2sql.pointer IS 'which build is live; switching it makes a build live';
COMMENT ON COLUMN nl2sql.pointer.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.pointer.namespace IS 'the namespace';
COMMENT ON COLUMN nl2sql.pointer.build IS 'build_id of the live build';
COMMENT ON COLUMN nl2sql.pointer.schema_version IS 'snapshot that the live build was cut from';
COMMENT ON COLUMN nl2sql.pointer.built_at IS 'when the live build was written';
COMMENT ON COLUMN nl2sql.pointer.curated_hash IS 'SHA-256 of the curated content in the build';

CREATE TABLE nl2sql.entry (
    namespace text NOT NULL,
    build bigint NOT NULL,
    id text NOT NULL,
    type text NOT NULL,
    datasource text NOT NULL,
    relation integer,
    columns text[],
    referred integer,
    referred_columns text[],
    referred_outside text[],
    read_relations integer[],
    read_columns text[],
    curated_hash text,
    text text NOT NULL,
    text_hash bytea NOT NULL,
    metadata jsonb NOT NULL,
    UNIQUE (namespace, build, id)
) PARTITION BY LIST (namespace);
CREATE INDEX entry_build_idx ON nl2sql.entry (build, type, relation);
CREATE INDEX entry_text_hash_idx ON nl2sql.entry (text_hash);
COMMENT ON TABLE nl2sql.entry IS 'chunks as stored; a partition per namespace';
COMMENT ON COLUMN nl2sql.entry.namespace IS 'namespace, one per embedding model';
COMMENT ON COLUMN nl2sql.entry.build IS 'build_id';
COMMENT ON COLUMN nl2sql.entry.id IS 'id of the chunk; deterministic, contains the schema_version';
COMMENT ON COLUMN nl2sql.entry.type IS 'chunk type';
COMMENT ON COLUMN nl2sql.entry.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.entry.relation IS 'table that the text is about; null: the datasource as a whole, or the tables in read_relations';
COMMENT ON COLUMN nl2sql.entry.columns IS 'columns of it that the text names';
COMMENT ON COLUMN nl2sql.entry.referred IS 'second table that the text is about, if it belongs to the datasource';
COMMENT ON COLUMN nl2sql.entry.referred_outside IS 'schema and name of the second table, if it does not belong to the datasource';
COMMENT ON COLUMN nl2sql.entry.referred_columns IS 'columns of the second table that the text names';
COMMENT ON COLUMN nl2sql.entry.read_relations IS 'curated content: the table of each column in read_columns';
COMMENT ON COLUMN nl2sql.entry.read_columns IS
    'curated content: columns that it reads; empty: all columns that the table has at search time; null: any column of the table';
COMMENT ON COLUMN nl2sql.entry.curated_hash IS 'curated content: SHA-256 of the item that the entry is cut from';
COMMENT ON COLUMN nl2sql.entry.text IS 'the embedded text';
COMMENT ON COLUMN nl2sql.entry.text_hash IS 'SHA-256 of the text';
COMMENT ON COLUMN nl2sql.entry.metadata IS 'metadata that a search returns with the text';

-- A table of its own: the texts and metadata of entries would make reading every row of a build several times slower.
CREATE TABLE nl2sql.document (
    build bigint NOT NULL REFERENCES nl2sql.build (id) ON DELETE CASCADE,
    relation integer,
    referred integer,
    length integer NOT NULL,
    place smallint NOT NULL,
    datasource text NOT NULL,
    columns text[],
    referred_columns text[],
    words tsvector NOT NULL,
    known_values text[]
);
CREATE INDEX document_build_idx ON nl2sql.document (build, relation);
-- fastupdate is off because every search would read the list of pending rows until a vacuum.
CREATE INDEX document_words_idx ON nl2sql.document USING gin (words) WITH (fastupdate = off);
CREATE INDEX document_values_idx ON nl2sql.document (build) WHERE known_values IS NOT NULL;
COMMENT ON TABLE nl2sql.document IS 'what retrieval and routing rank by: one row per table, column, relationship, sample question and datasource';
COMMENT ON COLUMN nl2sql.document.build IS 'build_id';
COMMENT ON COLUMN nl2sql.document.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.document.relation IS 'the table; null: the datasource as a whole, or a sample question';
COMMENT ON COLUMN nl2sql.document.referred IS 'the table that a relationship leads to';
COMMENT ON COLUMN nl2sql.document.referred_columns IS 'its key columns';
COMMENT ON COLUMN nl2sql.document.place IS 'position of a column in its table''s snapshot, starting at 1; 0: not a column';
COMMENT ON COLUMN nl2sql.document.columns IS 'columns that the row is about';
COMMENT ON COLUMN nl2sql.document.length IS 'number of words, including repeated ones';
COMMENT ON COLUMN nl2sql.document.words IS 'stems of names, comments and synonyms';
COMMENT ON COLUMN nl2sql.document.known_values IS 'known values of the column';

-- Adds the columns of pgvector's types, and copies of its operators for roles without USAGE on pgvector's schema. Looks
-- the schema up, so that it never uses a type or function of the same name in another schema.
DO $$
DECLARE
    vector_schema name := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                           WHERE e.extname = 'vector');
BEGIN
    EXECUTE format('ALTER TABLE nl2sql.entry ADD COLUMN embedding %I.vector NOT NULL', vector_schema);
    EXECUTE format('ALTER TABLE nl2sql.document ADD COLUMN embedding %I.halfvec', vector_schema);
    EXECUTE format('CREATE OPERATOR nl2sql.<#> (LEFTARG = %1$I.halfvec, RIGHTARG = %1$I.halfvec,
                        FUNCTION = %1$I.halfvec_negative_inner_product, COMMUTATOR = OPERATOR(nl2sql.<#>))', vector_schema);
    EXECUTE format('COMMENT ON OPERATOR nl2sql.<#> (%1$I.halfvec, %1$I.halfvec) IS ''negative inner product''', vector_schema);
    EXECUTE format('CREATE OPERATOR nl2sql.<=> (LEFTARG = %1$I.vector, RIGHTARG = %1$I.vector,
                        FUNCTION = %1$I.cosine_distance, COMMUTATOR = OPERATOR(nl2sql.<=>))', vector_schema);
    EXECUTE format('COMMENT ON OPERATOR nl2sql.<=> (%1$I.vector, %1$I.vector) IS ''cosine distance''', vector_schema);
END
$$;
-- A vector stored out of line makes an exact scan four times slower.
ALTER TABLE nl2sql.entry ALTER COLUMN embedding SET STORAGE PLAIN;
ALTER TABLE nl2sql.document ALTER COLUMN embedding SET STORAGE PLAIN;
COMMENT ON COLUMN nl2sql.entry.embedding IS 'vector of the text';
COMMENT ON COLUMN nl2sql.document.embedding IS 'vector of the entry in half precision; null for a relationship';

CREATE FUNCTION nl2sql.create_namespace(namespace text, dimension integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    vector_schema name := (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                           WHERE e.extname = 'vector');
BEGIN
    EXECUTE format(
        'CREATE TABLE nl2sql.%I (LIKE nl2sql.entry INCLUDING DEFAULTS INCLUDING STORAGE,
             CONSTRAINT namespace CHECK (namespace = %L),
             CONSTRAINT dimension CHECK (%I.vector_dims(embedding) = %s))',
        namespace, namespace, vector_schema, dimension);
    -- Roles reach it only through nl2sql.entry, whose row security applies.
    EXECUTE format('ALTER TABLE nl2sql.%I ENABLE ROW LEVEL SECURITY', namespace);
    EXECUTE format('COMMENT ON TABLE nl2sql.%I IS %L', namespace,
                   format('entries of the namespace %s, %s dimensions', namespace, dimension));
    -- ATTACH PARTITION takes a weaker lock than CREATE TABLE … PARTITION OF, so searches continue.
    EXECUTE format('ALTER TABLE nl2sql.entry ATTACH PARTITION nl2sql.%I FOR VALUES IN (%L)', namespace, namespace);
END
$$;
COMMENT ON FUNCTION nl2sql.create_namespace(text, integer) IS
    'creates the partition for a namespace''s entries, with a fixed dimension';
REVOKE EXECUTE ON FUNCTION nl2sql.create_namespace(text, integer) FROM PUBLIC;

SELECT nl2sql.create_namespace('nl2sql__local-all-minilm-l6-v2__384', 384);

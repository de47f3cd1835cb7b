-- Snapshots of schemas, and the differences between them.

CREATE TABLE nl2sql.snapshot (
    datasource text NOT NULL REFERENCES nl2sql.datasource (name) ON DELETE CASCADE,
    schema_version text NOT NULL,
    fingerprint text NOT NULL,
    content_hash text NOT NULL,
    engine_type text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (datasource, schema_version),
    UNIQUE (datasource, content_hash)
);
COMMENT ON TABLE nl2sql.snapshot IS 'a datasource''s schema at one moment; immutable';
COMMENT ON COLUMN nl2sql.snapshot.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.snapshot.schema_version IS 'YYYYMMDDhhmmss_<hash8>: UTC time stored, first 8 hex digits of content_hash';
COMMENT ON COLUMN nl2sql.snapshot.fingerprint IS 'SHA-256 of the structure alone';
COMMENT ON COLUMN nl2sql.snapshot.content_hash IS 'SHA-256 of contract and metadata as canonical JSON';
COMMENT ON COLUMN nl2sql.snapshot.engine_type IS 'engine that the schema was read from';
COMMENT ON COLUMN nl2sql.snapshot.created_at IS 'when it was stored';

CREATE TABLE nl2sql.snapshot_table (
    datasource text NOT NULL,
    schema_version text NOT NULL,
    table_schema text NOT NULL,
    table_name text NOT NULL,
    fingerprint text NOT NULL,
    contract jsonb NOT NULL,
    metadata jsonb NOT NULL,
    PRIMARY KEY (datasource, schema_version, table_schema, table_name),
    FOREIGN KEY (datasource, schema_version) REFERENCES nl2sql.snapshot ON DELETE CASCADE
);
COMMENT ON TABLE nl2sql.snapshot_table IS 'the tables of snapshots; nl2sql_snapshot() shows each role its part';
COMMENT ON COLUMN nl2sql.snapshot_table.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.snapshot_table.schema_version IS 'the snapshot';
COMMENT ON COLUMN nl2sql.snapshot_table.table_schema IS 'schema of the table, unquoted';
COMMENT ON COLUMN nl2sql.snapshot_table.table_name IS 'name of the table, unquoted';
COMMENT ON COLUMN nl2sql.snapshot_table.fingerprint IS 'SHA-256 of the table''s structure alone';
COMMENT ON COLUMN nl2sql.snapshot_table.contract IS 'structure: kind, primary key, columns, foreign keys';
COMMENT ON COLUMN nl2sql.snapshot_table.metadata IS 'descriptions, row count and statistics';

CREATE TABLE nl2sql.diff (
    datasource text NOT NULL,
    schema_version text NOT NULL,
    from_version text NOT NULL,
    diff jsonb NOT NULL,
    PRIMARY KEY (datasource, schema_version),
    FOREIGN KEY (datasource, schema_version) REFERENCES nl2sql.snapshot ON DELETE CASCADE
);
COMMENT ON TABLE nl2sql.diff IS 'how a version''s structure differs from the version that it replaced; nl2sql_diff() shows each role its part';
COMMENT ON COLUMN nl2sql.diff.datasource IS 'the datasource';
COMMENT ON COLUMN nl2sql.diff.schema_version IS 'the version; its diff is removed with it';
COMMENT ON COLUMN nl2sql.diff.from_version IS 'the version that was live before it';
COMMENT ON COLUMN nl2sql.diff.diff IS 'what was added, dropped and changed';

CREATE FUNCTION nl2sql.retaining() RETURNS boolean
    AS 'MODULE_PATHNAME', 'retaining_wrapper'
    LANGUAGE c VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION nl2sql.retaining() IS
    'whether the extension itself is removing old snapshots';
REVOKE EXECUTE ON FUNCTION nl2sql.retaining() FROM PUBLIC;

CREATE FUNCTION nl2sql.refuse_change() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF TG_OP = 'DELETE' AND nl2sql.retaining() THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'cannot change %.%: snapshots are immutable', TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Versions go by retention (nl2sql.max_versions); nl2sql_unregister() removes a datasource with all of them.';
END
$$;
COMMENT ON FUNCTION nl2sql.refuse_change() IS 'keeps snapshots immutable';
REVOKE EXECUTE ON FUNCTION nl2sql.refuse_change() FROM PUBLIC;

CREATE TRIGGER immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON nl2sql.snapshot
    FOR EACH STATEMENT EXECUTE FUNCTION nl2sql.refuse_change();
COMMENT ON TRIGGER immutable ON nl2sql.snapshot IS 'keeps snapshots immutable';
CREATE TRIGGER immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON nl2sql.snapshot_table
    FOR EACH STATEMENT EXECUTE FUNCTION nl2sql.refuse_change();
COMMENT ON TRIGGER immutable ON nl2sql.snapshot_table IS 'keeps snapshots immutable';

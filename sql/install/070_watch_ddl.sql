-- Watching DDL, off until nl2sql_watch_ddl(). A DDL statement then also inserts a row for each schema of a datasource that
-- it touches. The insert waits for no lock and never makes the statement fail.

CREATE TABLE nl2sql.ddl (
    table_schema text NOT NULL,
    command text NOT NULL,
    touched_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ddl_table_schema_idx ON nl2sql.ddl (table_schema, touched_at);
COMMENT ON TABLE nl2sql.ddl IS 'when DDL touched the schemas of datasources while nl2sql_watch_ddl() was on';
COMMENT ON COLUMN nl2sql.ddl.table_schema IS 'schema that was touched, unquoted';
COMMENT ON COLUMN nl2sql.ddl.command IS 'command that touched it';
COMMENT ON COLUMN nl2sql.ddl.touched_at IS 'when it ran';
ALTER TABLE nl2sql.ddl ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON nl2sql.ddl FOR SELECT
    USING (has_function_privilege('@extschema@.nl2sql_register(text,text[],text,text[],text[],jsonb)'::regprocedure, 'EXECUTE'));
GRANT SELECT ON nl2sql.ddl TO PUBLIC;

CREATE FUNCTION nl2sql.note_ddl() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    touched text[];
    watched text[] := ARRAY(SELECT unnest(s.schemas) FROM nl2sql.datasource_setting s);
BEGIN
    IF TG_EVENT = 'sql_drop' THEN
        touched := ARRAY(SELECT CASE WHEN o.object_type = 'schema' THEN o.object_name ELSE o.schema_name END
                         FROM pg_event_trigger_dropped_objects() o);
    ELSE
        -- The identity of a schema is its quoted name.
        touched := ARRAY(SELECT CASE WHEN c.object_type = 'schema' THEN (parse_ident(c.object_identity))[1]
                                     ELSE c.schema_name END
                         FROM pg_event_trigger_ddl_commands() c);
        -- The event has only the new name of what was renamed or moved: the old one is missing.
        IF TG_TAG = 'ALTER SCHEMA' THEN
            touched := touched || ARRAY(SELECT w FROM unnest(watched) w WHERE w NOT IN (SELECT n.nspname FROM pg_namespace n));
        ELSIF TG_TAG LIKE 'ALTER %' THEN
            touched := touched || ARRAY(SELECT r.table_schema
                                        FROM pg_event_trigger_ddl_commands() c
                                        JOIN pg_class t ON c.classid = 'pg_class'::regclass AND t.oid = c.objid
                                        JOIN nl2sql.relation r ON r.table_name = t.relname AND r.table_schema <> c.schema_name
                                        WHERE to_regclass(format('%I.%I', r.table_schema, r.table_name)) IS NULL);
        END IF;
    END IF;
    INSERT INTO nl2sql.ddl (table_schema, command)
    SELECT DISTINCT t, TG_TAG FROM unnest(touched) t WHERE t = ANY (watched);
EXCEPTION WHEN OTHERS THEN
    NULL;
END
$$;
COMMENT ON FUNCTION nl2sql.note_ddl() IS 'records that DDL touched a datasource''s schemas';
REVOKE EXECUTE ON FUNCTION nl2sql.note_ddl() FROM PUBLIC;

CREATE EVENT TRIGGER nl2sql_ddl ON ddl_command_end EXECUTE FUNCTION nl2sql.note_ddl();
ALTER EVENT TRIGGER nl2sql_ddl DISABLE;
COMMENT ON EVENT TRIGGER nl2sql_ddl IS 'records that DDL touched a datasource''s schemas; see nl2sql_watch_ddl()';
CREATE EVENT TRIGGER nl2sql_drop ON sql_drop EXECUTE FUNCTION nl2sql.note_ddl();
ALTER EVENT TRIGGER nl2sql_drop DISABLE;
COMMENT ON EVENT TRIGGER nl2sql_drop IS 'records that DDL touched a datasource''s schemas; see nl2sql_watch_ddl()';

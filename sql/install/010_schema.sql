\echo Use "CREATE EXTENSION nl2sql" to load this file. \quit

-- CREATE EXTENSION puts its target schema first in search_path, and other roles may be able to create objects there. From
-- here on, unqualified names are those of pg_catalog. The names of pgvector and of this extension are qualified.
SET LOCAL search_path = pg_catalog, pg_temp;

DO $$
BEGIN
    IF pg_catalog.getdatabaseencoding() <> 'UTF8' THEN
        RAISE EXCEPTION 'nl2sql needs a database in UTF8, not %', pg_catalog.getdatabaseencoding()
            USING ERRCODE = 'feature_not_supported',
                  HINT = 'Create the extension in a database made with ENCODING ''UTF8''.';
    END IF;
END
$$;

-- Functions go into the target schema; tables, views, and the functions that these use go into the schema nl2sql.
CREATE SCHEMA nl2sql;
COMMENT ON SCHEMA nl2sql IS 'tables and views of the extension nl2sql';
GRANT USAGE ON SCHEMA nl2sql TO PUBLIC;

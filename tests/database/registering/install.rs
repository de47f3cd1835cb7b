//! CREATE EXTENSION in a schema where another role may create: it neither uses nor runs what that role created.

use nl2sql_tests::{Database, error, text};

/// Objects under the names that the install script and its views use, created by a role in a schema of its choice.
/// Whatever runs writes its name into `ran`.
fn plant(database: &Database, role: &str, vector: &str) {
    let mut client = database.connect_as(role);
    client
        .batch_execute(
            "CREATE TABLE target.ran (name text);
             GRANT ALL ON target.ran TO PUBLIC;
             CREATE FUNCTION target.note(name text) RETURNS void LANGUAGE sql
                 AS $$ INSERT INTO target.ran VALUES (name) $$;",
        )
        .unwrap();
    let functions = [
        ("format", "text, text", "text", "''::text"),
        ("format", "text, name", "text", "''::text"),
        ("format", "text, name, name", "text", "''::text"),
        ("now", "", "timestamptz", "'epoch'::timestamptz"),
        ("clock_timestamp", "", "timestamptz", "'epoch'::timestamptz"),
        ("getdatabaseencoding", "", "text", "'UTF8'::text"),
        ("max", "timestamptz", "timestamptz", "$1"),
        ("jsonb_array_elements_text", "jsonb", "text", "''::text"),
        ("has_function_privilege", "regprocedure, text", "boolean", "true"),
        ("parse_ident", "text", "text[]", "'{}'::text[]"),
        ("unnest", "text[]", "text", "''::text"),
        ("text_equal", "text, text", "boolean", "true"),
        ("name_equal", "name, text", "boolean", "true"),
        ("bigint_equal", "bigint, bigint", "boolean", "true"),
        ("member", "jsonb, text", "text", "''::text"),
    ];
    for (name, parameters, result, value) in functions {
        client
            .batch_execute(&format!(
                "CREATE FUNCTION target.{name}({parameters}) RETURNS {result} LANGUAGE plpgsql
                     AS $$ BEGIN PERFORM target.note('{name}'); RETURN {value}; END $$;"
            ))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    client
        .batch_execute(
            "CREATE OPERATOR target.= (LEFTARG = text, RIGHTARG = text, FUNCTION = target.text_equal);
             CREATE OPERATOR target.= (LEFTARG = name, RIGHTARG = text, FUNCTION = target.name_equal);
             CREATE OPERATOR target.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = target.bigint_equal);
             CREATE OPERATOR target.->> (LEFTARG = jsonb, RIGHTARG = text, FUNCTION = target.member);
             CREATE DOMAIN target.jsonb AS pg_catalog.jsonb;
             CREATE DOMAIN target.regprocedure AS pg_catalog.regprocedure;
             CREATE DOMAIN target.timestamptz AS pg_catalog.timestamptz;",
        )
        .unwrap();
    if vector != "target" {
        client
            .batch_execute(
                "CREATE DOMAIN target.vector AS float4[];
                 CREATE TYPE target.halfvec AS (component float4);
                 CREATE FUNCTION target.halfvec_negative_inner_product(target.halfvec, target.halfvec) RETURNS float8
                     LANGUAGE plpgsql AS $$ BEGIN PERFORM target.note('inner product'); RETURN 0; END $$;
                 CREATE FUNCTION target.vector_dims(target.vector) RETURNS integer
                     LANGUAGE plpgsql AS $$ BEGIN PERFORM target.note('vector_dims'); RETURN 384; END $$;",
            )
            .unwrap();
        client
            .batch_execute(&format!(
                "CREATE FUNCTION target.cosine_distance({vector}.vector, {vector}.vector) RETURNS float8
                     LANGUAGE plpgsql AS $$ BEGIN PERFORM target.note('cosine_distance'); RETURN 0; END $$;
                 CREATE FUNCTION target.cosine_distance(target.vector, target.vector) RETURNS float8
                     LANGUAGE plpgsql AS $$ BEGIN PERFORM target.note('cosine_distance'); RETURN 0; END $$;"
            ))
            .unwrap();
    }
}

#[test]
fn create_extension_uses_nothing_that_others_created_in_its_schema() {
    for vector in ["ext", "target"] {
        let database = Database::blank();
        let mut client = database.connect();
        let role = database.role("mallory");
        client
            .batch_execute(&format!(
                "DROP EXTENSION nl2sql;
                 DROP EXTENSION vector;
                 CREATE SCHEMA target;
                 CREATE SCHEMA ext;
                 GRANT USAGE ON SCHEMA ext TO PUBLIC;
                 GRANT CREATE, USAGE ON SCHEMA target TO {role};
                 CREATE EXTENSION vector SCHEMA {vector};"
            ))
            .unwrap();
        plant(&database, &role, vector);
        let ran = "(SELECT string_agg(name, ' ') FROM target.ran)";

        client.batch_execute("CREATE EXTENSION nl2sql SCHEMA target").expect("the extension");
        assert_eq!(text(&mut client, ran), None, "ran during CREATE EXTENSION, pgvector in {vector}");
        let types = "(SELECT string_agg(format_type(atttypid, NULL), ' ' ORDER BY attrelid) FROM pg_attribute
                      WHERE attrelid IN ('nl2sql.entry'::regclass, 'nl2sql.document'::regclass) AND attname = 'embedding')";
        assert_eq!(text(&mut client, types), Some(format!("{vector}.vector {vector}.halfvec")));

        client
            .batch_execute(
                "CREATE TABLE public.orders (id integer PRIMARY KEY, placed_on date);
                 SELECT target.nl2sql_register('shop', ARRAY['public']);
                 SELECT * FROM target.nl2sql_index('shop');
                 SELECT * FROM target.nl2sql_mmr('when was an order placed?', datasources => ARRAY['shop']);
                 SELECT * FROM target.nl2sql_route('when was an order placed?');
                 SELECT * FROM target.nl2sql_retrieve('shop', 'when was an order placed?');
                 SELECT * FROM nl2sql.datasources, nl2sql.tables, nl2sql.columns, nl2sql.builds, nl2sql.health;",
            )
            .expect("the functions and the views");
        assert_eq!(text(&mut client, ran), None, "ran in functions and views, pgvector in {vector}");

        // RESTRICT: fails if anything of another owner depends on what the role owns.
        client.batch_execute(&format!("DROP OWNED BY {role} RESTRICT")).expect("nothing depends on the role's objects");
    }
}

#[test]
fn a_function_that_is_already_there_stops_create_extension() {
    let database = Database::blank();
    let mut client = database.connect();
    let role = database.role("mallory");
    client
        .batch_execute(&format!(
            "DROP EXTENSION nl2sql; CREATE SCHEMA target; GRANT CREATE, USAGE ON SCHEMA target TO {role};"
        ))
        .unwrap();
    database
        .connect_as(&role)
        .batch_execute("CREATE FUNCTION target.nl2sql_bind(datasource text, query_id text, params jsonb) RETURNS text LANGUAGE sql AS $$ SELECT '' $$")
        .unwrap();
    let found = error(&mut client, "CREATE EXTENSION nl2sql SCHEMA target");
    assert_eq!(found.code().code(), "42723", "{found}");
}

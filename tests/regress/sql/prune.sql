-- nl2sql_prune() drops the namespaces of other models and touches nothing of the current one.
SET client_min_messages = warning;
CREATE EXTENSION nl2sql CASCADE;
CREATE SCHEMA depot;
CREATE TABLE depot.tram (tram_id integer PRIMARY KEY, line text);
SELECT nl2sql_register('depot');
SELECT status, entries FROM nl2sql_index('depot');

-- There is one namespace: nothing to drop.
SELECT * FROM nl2sql_prune();

-- Two more, as other models would have left them: one with a live build, one with nothing.
SELECT nl2sql.create_namespace('nl2sql__other-model__3', 3);
ALTER EXTENSION nl2sql ADD TABLE nl2sql."nl2sql__other-model__3";
SELECT nl2sql.create_namespace('nl2sql__another-model__2', 2);
ALTER EXTENSION nl2sql ADD TABLE nl2sql."nl2sql__another-model__2";
INSERT INTO nl2sql.build (namespace, datasource, schema_version)
SELECT 'nl2sql__other-model__3', datasource, schema_version FROM nl2sql.pointer;
INSERT INTO nl2sql.entry (namespace, build, id, type, datasource, text, text_hash, metadata, embedding)
SELECT b.namespace, b.id, 'entry ' || n, 'schema.datasource', 'depot', 'a text', sha256('a text'), '{}', '[1,0,0]'
FROM nl2sql.build b, generate_series(1, 5) n
WHERE b.namespace = 'nl2sql__other-model__3';
INSERT INTO nl2sql.pointer (datasource, namespace, build, schema_version, built_at)
SELECT datasource, namespace, id, schema_version, built_at FROM nl2sql.build WHERE namespace = 'nl2sql__other-model__3';

-- A namespace takes vectors of its own dimension alone.
\set VERBOSITY terse
INSERT INTO nl2sql.entry (namespace, build, id, type, datasource, text, text_hash, metadata, embedding)
VALUES ('nl2sql__another-model__2', 1, 'x', 'schema.datasource', 'depot', 'x', '\x', '{}', '[1,0,0]');
\set VERBOSITY default

-- Health speaks of the current model's namespace.
SELECT datasource, status, entries, namespace FROM nl2sql_health();
SELECT namespace, count(*) FROM nl2sql.entry GROUP BY namespace ORDER BY namespace;

SELECT * FROM nl2sql_prune();

SELECT namespace, count(*) FROM nl2sql.entry GROUP BY namespace ORDER BY namespace;
SELECT namespace, count(*) FROM nl2sql.build GROUP BY namespace ORDER BY namespace;
SELECT namespace, count(*) FROM nl2sql.pointer GROUP BY namespace ORDER BY namespace;
SELECT relname FROM pg_class WHERE relname LIKE 'nl2sql\_\_%' AND relkind = 'r' ORDER BY relname;
SELECT status, embedded FROM nl2sql_index('depot');
SELECT * FROM nl2sql_prune();

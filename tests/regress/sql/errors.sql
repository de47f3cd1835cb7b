-- Errors as a user reads them in psql, and their SQLSTATEs.
SET client_min_messages = warning;
CREATE EXTENSION nl2sql CASCADE;
RESET client_min_messages;
\set SHOW_CONTEXT never
CREATE SCHEMA harbour;
CREATE TABLE harbour.ship (ship_id integer PRIMARY KEY, name text);
CREATE TABLE harbour."Berth" (berth_id integer PRIMARY KEY, ship_id integer REFERENCES harbour.ship);
CREATE SCHEMA customs;

-- Nothing is there yet.
SELECT * FROM nl2sql_mmr('ships at the quay');
\echo :LAST_ERROR_SQLSTATE
SELECT nl2sql_register('harbor');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM nl2sql_index('harbor');
\echo :LAST_ERROR_SQLSTATE
SELECT nl2sql_register('customs');
SELECT * FROM nl2sql_index('customs');
\echo :LAST_ERROR_SQLSTATE
SELECT status FROM nl2sql_index('harbour');

-- Unknown names come with near ones.
SELECT * FROM nl2sql_mmr('ships', datasources => '{harbor}');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM nl2sql_mmr('ships', tables => '{harbour.birth}');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM nl2sql_mmr('ships', types => '{table}');
\echo :LAST_ERROR_SQLSTATE
SELECT nl2sql_snapshot('harbour', '20200101000000_00000000');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM nl2sql_health('zzz');
\echo :LAST_ERROR_SQLSTATE

-- Not indexed.
SELECT * FROM nl2sql_route('ships', datasources => '{customs}');
\echo :LAST_ERROR_SQLSTATE
SELECT nl2sql_snapshot('customs');
\echo :LAST_ERROR_SQLSTATE

-- Bad arguments.
SELECT * FROM nl2sql_mmr('');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM nl2sql_mmr('ships', k => 0);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM nl2sql_mmr('ships', lambda => 'NaN');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM nl2sql_mmr('ships', datasources => '{}');
\echo :LAST_ERROR_SQLSTATE
SELECT nl2sql_register('harbour', options => '{"exlude": ["harbour.ship"]}');
\echo :LAST_ERROR_SQLSTATE
SELECT nl2sql_register('harbour', options => '{"exclude": "harbour.ship"}');
\echo :LAST_ERROR_SQLSTATE
SELECT nl2sql_register('harbour', options => '{"include": ["harbour.[a"]}');
\echo :LAST_ERROR_SQLSTATE
SELECT nl2sql_register('harbour', schemas => '{pg_catalog}');
\echo :LAST_ERROR_SQLSTATE

-- NULL where none may be.
SELECT * FROM nl2sql_route(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM nl2sql_mmr('ships', types => '{schema.table,NULL}');
\echo :LAST_ERROR_SQLSTATE

-- What a later release brings.
SELECT * FROM nl2sql_index('harbour', enrich => true);
\echo :LAST_ERROR_SQLSTATE
SELECT nl2sql_register('harbour', options => '{"server": "elsewhere"}');
\echo :LAST_ERROR_SQLSTATE

-- One of several fails: a row and a WARNING; the others go on.
SELECT datasource, status, error FROM nl2sql_index();

-- Snapshots are immutable.
UPDATE nl2sql.snapshot SET fingerprint = '';
\echo :LAST_ERROR_SQLSTATE
DELETE FROM nl2sql.snapshot_table;
\echo :LAST_ERROR_SQLSTATE

-- A transaction that may not write.
BEGIN READ ONLY;
SELECT * FROM nl2sql_index('harbour');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

-- What nl2sql_health() says of an index in every state that it can get into, and that following its
-- advice mends it.
SET client_min_messages = warning;
CREATE EXTENSION nl2sql CASCADE;
CREATE SCHEMA mill;
CREATE TABLE mill.grain (grain_id integer PRIMARY KEY, sort text);
CREATE SCHEMA bakery;
CREATE TABLE bakery.bread (bread_id integer PRIMARY KEY, name text);
CREATE VIEW health AS SELECT datasource, status, entries, problems, warnings FROM nl2sql_health();

-- Nothing is registered.
TABLE health;

-- Registered, and nothing is live at all.
SELECT nl2sql_register('mill');
SELECT nl2sql_register('bakery');
TABLE health;

-- One is live, so the other one is behind it.
SELECT status FROM nl2sql_index('mill');
TABLE health;
SELECT status FROM nl2sql_index('bakery');
TABLE health;

-- Entries are gone. The build is there, and holds nothing.
DELETE FROM nl2sql.entry WHERE datasource = 'mill';
TABLE health;
SELECT status, embedded FROM nl2sql_index('mill');

-- Some are gone: that is no state of its own, and building finds it out.
DELETE FROM nl2sql.entry e USING nl2sql.pointer p WHERE e.build = p.build AND e.datasource = 'mill' AND e.type = 'schema.column';
TABLE health;
SELECT status, entries, embedded FROM nl2sql_index('mill');

-- The snapshot is gone. It takes a superuser who goes round the triggers.
SET session_replication_role = replica;
DELETE FROM nl2sql.snapshot_table WHERE datasource = 'mill';
DELETE FROM nl2sql.snapshot WHERE datasource = 'mill';
RESET session_replication_role;
TABLE health;
-- Stored in the same second it has the name that it had, and the build still fits.
SELECT status IN ('indexed', 'unchanged') AS mended FROM nl2sql_index('mill');

-- The pointer is gone.
DELETE FROM nl2sql.pointer WHERE datasource = 'bakery';
TABLE health;
SELECT status, embedded FROM nl2sql_index('bakery');

-- The structure has moved on: a warning, which leaves the status as it is.
ALTER TABLE mill.grain ADD harvested_on date;
SELECT nl2sql_register('mill', options => '{"preferred_tables": ["grain", "mill.grain", "mill.flour", "\"Wheel\""]}');
TABLE health;
SELECT status FROM nl2sql_index('mill');
TABLE health;

-- A comment is no structure.
COMMENT ON TABLE mill.grain IS 'What is ground';
SELECT nl2sql_register('mill', options => '{}');
TABLE health;

-- Tables out of scope do not count as drift; a table that is gone does.
SELECT nl2sql_register('mill', options => '{"exclude": ["mill.tmp_*"]}');
CREATE TABLE mill.tmp_sacks (n integer);
TABLE health;
DROP TABLE mill.grain;
TABLE health;

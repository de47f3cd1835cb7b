-- nl2sql_unregister() takes everything of one datasource along and nothing of another.
SET client_min_messages = warning;
CREATE EXTENSION nl2sql CASCADE;
CREATE SCHEMA stable;
CREATE TABLE stable.horse (horse_id integer PRIMARY KEY, name text);
CREATE SCHEMA smithy;
CREATE TABLE smithy.shoe (shoe_id integer PRIMARY KEY, horse_id integer REFERENCES stable.horse);
SELECT nl2sql_register('stable');
SELECT nl2sql_register('smithy');
SELECT datasource, status FROM nl2sql_index();
-- Two versions and two builds of it.
COMMENT ON TABLE stable.horse IS 'Horses at livery';
SELECT datasource, status FROM nl2sql_index('stable');

CREATE VIEW kept AS
SELECT 'datasource' AS what, name AS datasource, 1 AS n FROM nl2sql.datasource
UNION ALL SELECT 'setting', datasource, 1 FROM nl2sql.datasource_setting
UNION ALL SELECT 'relation', datasource, count(*) FROM nl2sql.relation GROUP BY datasource
UNION ALL SELECT 'snapshot', datasource, count(*) FROM nl2sql.snapshot GROUP BY datasource
UNION ALL SELECT 'snapshot table', datasource, count(*) FROM nl2sql.snapshot_table GROUP BY datasource
UNION ALL SELECT 'build', datasource, count(*) FROM nl2sql.build GROUP BY datasource
UNION ALL SELECT 'pointer', datasource, count(*) FROM nl2sql.pointer GROUP BY datasource
UNION ALL SELECT 'entry', datasource, count(*) FROM nl2sql.entry GROUP BY datasource;
SELECT * FROM kept ORDER BY what, datasource;

SELECT nl2sql_unregister('stable');
SELECT * FROM kept ORDER BY what, datasource;
SELECT nl2sql_unregister('stable');
SELECT * FROM nl2sql_mmr('horses', datasources => '{stable}');
SELECT DISTINCT datasource FROM nl2sql_mmr('horses', k => 100);
-- The schema itself is as it was.
SELECT count(*) FROM stable.horse;

-- Rolled back, it has not happened.
BEGIN;
SELECT nl2sql_unregister('smithy');
ROLLBACK;
SELECT status, embedded FROM nl2sql_index('smithy');

-- It can come back.
SELECT nl2sql_register('stable');
SELECT datasource, status, entries FROM nl2sql_index('stable');
SELECT count(*) FROM nl2sql_versions('stable');

-- Registering, changing, and what the view nl2sql.datasources shows of it.
SET client_min_messages = warning;
CREATE EXTENSION nl2sql CASCADE;
CREATE SCHEMA "Station";
CREATE TABLE "Station".train (train_id integer PRIMARY KEY);
CREATE SCHEMA kiosk;
CREATE TABLE kiosk.paper (paper_id integer PRIMARY KEY);
\d nl2sql.datasources

CREATE VIEW shown AS
SELECT datasource, kind, schemas, description, domains, sample_questions, options FROM nl2sql.datasources ORDER BY datasource;

-- Without schemas, a datasource is the schema of its own name.
SELECT nl2sql_register('Station');
SELECT nl2sql_register('travel', schemas => ARRAY['kiosk', 'Station'], description => 'Trains and papers', domains => ARRAY['transport', 'press'],
    sample_questions => ARRAY['When does it leave?'], options => '{"exclude": ["*.tmp_*"], "sample_values": true}');
TABLE shown;

-- NULL leaves what is stored, a value replaces it as a whole.
SELECT nl2sql_register('travel', description => 'Trains, papers and waiting');
SELECT nl2sql_register('travel', domains => '{}', options => '{"profile": "catalog"}');
SELECT nl2sql_register('travel', schemas => '{kiosk}', sample_questions => ARRAY['When does it leave?', 'Which paper sells best?']);
SELECT nl2sql_register('travel');
TABLE shown;

-- What fails changes nothing, not even the part that was right.
SELECT nl2sql_register('travel', description => 'lost', options => '{"profile": "all"}');
SELECT nl2sql_register('travel', description => 'lost', schemas => '{kiosk,nowhere}');
TABLE shown;

-- A change is searched once it is indexed.
SELECT datasource, status, counts FROM nl2sql_index();
SELECT nl2sql_register('travel', sample_questions => ARRAY['Which paper sells best?']);
SELECT datasource, status, embedded, reused, counts FROM nl2sql_index('travel');
SELECT datasource, changed_at >= created_at AS changed FROM nl2sql.datasources ORDER BY datasource;

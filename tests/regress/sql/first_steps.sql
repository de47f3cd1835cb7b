-- From an empty database to an answer. Similarities are left out: their last digits are the machine's.
SET client_min_messages = warning;
CREATE EXTENSION nl2sql CASCADE;
RESET client_min_messages;

CREATE SCHEMA orchard;
COMMENT ON SCHEMA orchard IS 'Fruit trees, what they bore and who bought it';
CREATE TYPE orchard.quality AS ENUM ('table', 'cider', 'waste');
CREATE TABLE orchard.tree (
    tree_id integer PRIMARY KEY,
    species text NOT NULL,
    planted_on date
);
CREATE TABLE orchard.harvest (
    tree_id integer NOT NULL REFERENCES orchard.tree,
    picked_on date NOT NULL,
    kilograms numeric(8, 1) NOT NULL,
    quality orchard.quality,
    PRIMARY KEY (tree_id, picked_on)
);
COMMENT ON COLUMN orchard.harvest.kilograms IS 'Weight of the fruit picked that day';

CREATE SCHEMA library;
CREATE TABLE library.book (isbn text PRIMARY KEY, title text NOT NULL, author text);
CREATE TABLE library.loan (isbn text REFERENCES library.book, reader text, due_on date);
SELECT nl2sql_register('library', description => 'Books of the village library and who has borrowed them',
    domains => ARRAY['culture'], sample_questions => ARRAY['Which books are overdue?', ' ', 'Which books are overdue?']);

-- A schema that nobody registered is registered as it is indexed.
SELECT datasource, status, entries, counts, embedded, reused, issues, error FROM nl2sql_index('orchard');
SELECT datasource, status, entries, counts, embedded, reused, issues, error FROM nl2sql_index('library');
-- Nothing has changed: nothing is built.
SELECT datasource, status, embedded, reused FROM nl2sql_index();

SELECT datasource, ranks FROM nl2sql_route('How many apples did each tree bear?', floor_ratio => 1);
SELECT datasource, ranks FROM nl2sql_route('Who has not brought back the novel?', floor_ratio => 1);

SELECT rank, type, metadata ->> 'table' AS "table", text
FROM nl2sql_mmr('weight of the fruit that was picked', k => 1);
SELECT type, metadata - 'id' - 'schema_version' AS metadata
FROM nl2sql_mmr('one tree, many harvests', k => 1, types => ARRAY['schema.relationship']);
SELECT type, metadata - 'id' - 'schema_version' AS metadata
FROM nl2sql_mmr('quality', k => 1, types => ARRAY['schema.column'], tables => ARRAY['orchard.harvest']);
SELECT type, metadata - 'id' - 'schema_version' AS metadata
FROM nl2sql_mmr('harvest', k => 1, types => ARRAY['schema.table'], datasources => ARRAY['orchard']);

SELECT jsonb_pretty(nl2sql_snapshot('orchard') -> 'tables' -> 0);
SELECT datasource, status, entries, counts, namespace, embedding_model, problems, warnings FROM nl2sql_health();
SELECT live, has_diff, schema_version ~ '^\d{14}_[0-9a-f]{8}$' AS version FROM nl2sql_versions('orchard');

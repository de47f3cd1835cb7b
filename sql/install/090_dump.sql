-- Dumps contain what users wrote. Indexes are rebuilt after a restore.

SELECT pg_catalog.pg_extension_config_dump('nl2sql.datasource', '');
SELECT pg_catalog.pg_extension_config_dump('nl2sql.datasource_setting', '');
SELECT pg_catalog.pg_extension_config_dump('nl2sql.description', '');
SELECT pg_catalog.pg_extension_config_dump('nl2sql.verified_query', '');
SELECT pg_catalog.pg_extension_config_dump('nl2sql.metric', '');
SELECT pg_catalog.pg_extension_config_dump('nl2sql.term', '');
SELECT pg_catalog.pg_extension_config_dump('nl2sql.datasource_id_seq', '');

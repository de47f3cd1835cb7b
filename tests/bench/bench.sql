-- What tests/bench/bench.sh measures in the server: a made schema of 150 tables, indexed; then questions; then a big table.
\set ON_ERROR_STOP 1
\pset pager off
SET client_min_messages = warning;

CREATE SCHEMA bench;
-- Tables and columns named from three short lists, so that every text is another one and reads like a schema.
DO $$
DECLARE
    things text[] := ARRAY['customer', 'invoice', 'shipment', 'contract', 'ticket', 'machine', 'supplier', 'employee', 'account', 'vehicle'];
    parts text[] := ARRAY['line', 'history', 'address', 'payment', 'note', 'status', 'approval', 'document', 'schedule', 'rate',
                          'budget', 'forecast', 'category', 'location', 'event'];
    fields text[] := ARRAY['created at', 'amount', 'currency', 'reference number', 'description'];
    thing text;
    part text;
    field text;
BEGIN
    FOREACH thing IN ARRAY things LOOP
        FOREACH part IN ARRAY parts LOOP
            EXECUTE format('CREATE TABLE bench.%I (id integer PRIMARY KEY)', thing || '_' || part);
            FOREACH field IN ARRAY fields LOOP
                EXECUTE format('ALTER TABLE bench.%I ADD COLUMN %I text', thing || '_' || part, replace(field, ' ', '_'));
            END LOOP;
        END LOOP;
    END LOOP;
END
$$;

CREATE TABLE public.bench_build AS SELECT entries, embedded, seconds FROM nl2sql_index('bench');
CREATE TABLE public.bench_again AS SELECT status, embedded, seconds FROM nl2sql_index('bench');
-- Another process may have been in the way: twice more, from nothing, and the fastest counts.
SELECT nl2sql_unregister('bench');
INSERT INTO public.bench_build SELECT entries, embedded, seconds FROM nl2sql_index('bench');
SELECT nl2sql_unregister('bench');
INSERT INTO public.bench_build SELECT entries, embedded, seconds FROM nl2sql_index('bench');

-- Milliseconds of one call each: a new question every time, then one that was just asked.
CREATE TABLE public.bench_latency (what text, question text, ms double precision);
DO $$
DECLARE
    started timestamptz;
    asked text;
    round integer;
BEGIN
    PERFORM nl2sql_embed('warm');
    FOR round IN 1..60 LOOP
        asked := 'Which customers of region ' || round || ' have open invoices?';
        started := clock_timestamp();
        PERFORM count(*) FROM nl2sql_route(asked);
        INSERT INTO public.bench_latency VALUES ('route', 'new', 1000 * extract(epoch FROM clock_timestamp() - started));
        started := clock_timestamp();
        PERFORM count(*) FROM nl2sql_route(asked);
        INSERT INTO public.bench_latency VALUES ('route', 'just asked', 1000 * extract(epoch FROM clock_timestamp() - started));
        asked := 'Which suppliers of region ' || round || ' were paid late?';
        started := clock_timestamp();
        PERFORM count(*) FROM nl2sql_mmr(asked);
        INSERT INTO public.bench_latency VALUES ('mmr', 'new', 1000 * extract(epoch FROM clock_timestamp() - started));
        started := clock_timestamp();
        PERFORM count(*) FROM nl2sql_mmr(asked);
        INSERT INTO public.bench_latency VALUES ('mmr', 'just asked', 1000 * extract(epoch FROM clock_timestamp() - started));
    END LOOP;
END
$$;

-- 1,000,000 rows of 20 columns: their statistics, against one scan that finds every column's least and greatest value.
CREATE SCHEMA big;
CREATE TABLE big.facts AS
SELECT i AS id, i % 1000 AS customer, i % 7 AS kind, (i::bigint * 7919) % 1000003 AS code, i::bigint * 3 AS total,
       (i % 100000)::numeric / 100 AS amount, (i % 977)::numeric(10, 2) AS price, random() AS ratio, (i % 365) * 1.5 AS score,
       '2020-01-01'::date + i % 2000 AS day, '2020-01-01'::timestamptz + i * interval '1 minute' AS at, md5(i::text) AS hash,
       'name ' || i % 5000 AS label, 'state ' || i % 12 AS state, CASE WHEN i % 3 = 0 THEN 'note ' || i END AS note,
       '2021-01-01'::timestamp + (i % 100000) * interval '1 second' AS moment, (i % 50)::smallint AS small,
       'city ' || i % 300 AS city, i % 90000 AS parent, i % 11 AS grade
FROM generate_series(1, 1000000) AS i;
ANALYZE big.facts;
CREATE TABLE public.bench_profile (what text, seconds double precision);
SELECT nl2sql_index('big');
DO $$
DECLARE
    extremes text := (SELECT string_agg(format('min(%1$I), max(%1$I)', attname), ', ' ORDER BY attnum)
                      FROM pg_attribute WHERE attrelid = 'big.facts'::regclass AND attnum > 0);
    started timestamptz;
    round integer;
BEGIN
    SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL jit = off;
    FOR round IN 1..3 LOOP
        started := clock_timestamp();
        EXECUTE format('SELECT %s FROM big.facts', extremes);
        INSERT INTO public.bench_profile VALUES ('scan', extract(epoch FROM clock_timestamp() - started));
        started := clock_timestamp();
        PERFORM nl2sql_index('big');
        INSERT INTO public.bench_profile VALUES ('index', extract(epoch FROM clock_timestamp() - started));
    END LOOP;
END
$$;

-- Drift, as health looks for it in a schema of 2,000 tables and 24,000 columns.
CREATE SCHEMA many;
DO $$
BEGIN
    FOR number IN 1..2000 LOOP
        EXECUTE format('CREATE TABLE many.%I (id integer PRIMARY KEY, a text, b text NOT NULL, c integer, d numeric(10, 2),
                        e timestamptz, f date, g varchar(20), h boolean, i integer, j integer, parent integer %s)',
                       'table_' || number,
                       CASE WHEN number > 1 THEN format('REFERENCES many.%I', 'table_' || number - 1) ELSE '' END);
        IF number % 500 = 0 THEN
            COMMIT;
        END IF;
    END LOOP;
END
$$;
SELECT nl2sql_index('many');
CREATE TABLE public.bench_many (what text, ms double precision);
DO $$
DECLARE
    started timestamptz;
BEGIN
    PERFORM nl2sql_retrieve('many', 'which of these has the greatest value?');
    FOR round IN 1..7 LOOP
        started := clock_timestamp();
        PERFORM nl2sql_health('many');
        INSERT INTO public.bench_many VALUES ('nl2sql_health', 1000 * extract(epoch FROM clock_timestamp() - started));
        started := clock_timestamp();
        PERFORM count(*) FROM nl2sql_retrieve('many', 'which of these has the greatest value?');
        INSERT INTO public.bench_many VALUES ('nl2sql_retrieve, just asked', 1000 * extract(epoch FROM clock_timestamp() - started));
        started := clock_timestamp();
        PERFORM nl2sql_catalog('many');
        INSERT INTO public.bench_many VALUES ('nl2sql_catalog', 1000 * extract(epoch FROM clock_timestamp() - started));
    END LOOP;
END
$$;

-- What tests/bench.sh measures in the server: a made schema of 150 tables, indexed; then questions.
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

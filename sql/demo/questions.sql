-- What `make demo` prints: psql runs this with -e, so each statement stands before its answer.

\echo
\echo '---- The extension, and three databases registered with it ----'
\echo

CREATE EXTENSION nl2sql CASCADE;

SELECT nl2sql_register('chinook',
    description => 'Digital music shop: artists, albums, tracks, genres, playlists, and the invoices of customers who bought them',
    sample_questions => ARRAY[
        'Which artist has the most albums?',
        'Who are the top five customers by total spend?',
        'Which genre sells the most tracks?',
        'What is the longest track on each album?',
        'How much revenue did each sales support agent bring in?']);

SELECT nl2sql_register('helpdesk',
    description => 'Help desk of a software company: support tickets, the agents who answer them, reply times, service levels, satisfaction scores and the monthly support invoices',
    sample_questions => ARRAY[
        'How many tickets are still open, by priority?',
        'Which agents resolved the most tickets last month?',
        'What is the average time to the first reply?',
        'Which customers are least satisfied with the support?']);

SELECT nl2sql_register('webshop',
    description => 'Online shop for household goods: products, suppliers, stock in the warehouses, orders, shipments, returns and bills',
    sample_questions => ARRAY[
        'Which products are out of stock?',
        'What was the revenue of each product category last month?',
        'Which carrier delivers late most often?',
        'Why do customers send products back?']);

\echo
\echo '---- Indexed: everything that can be searched, embedded by the model inside Postgres ----'
\echo

SELECT datasource, status, entries, embedded, reused, round(seconds::numeric, 2) AS seconds FROM nl2sql_index();

\echo
\echo '---- Which database can answer? ----'
\echo

SELECT * FROM nl2sql_route('Which bands recorded more than two live records?');

SELECT * FROM nl2sql_route('How long do urgent problems wait before somebody answers?');

SELECT * FROM nl2sql_route('What has to be reordered for Hamburg?');

SELECT * FROM nl2sql_route('Which parcels arrived later than promised in December?');

SELECT * FROM nl2sql_route('Who has not paid the bill yet?');

\echo
\echo '---- What of it does a planner need? ----'
\echo

-- A datasource as small as this one is sent whole; here it is searched.
SET nl2sql.full_snapshot_max_tables = 0;

SELECT rank, table_name, via,
       (SELECT string_agg(c ->> 'name', ', ') FROM jsonb_array_elements(definition -> 'columns') c) AS columns
FROM nl2sql_retrieve('webshop', 'Which parcels arrived later than promised in December?', table_k => 3);

SELECT nl2sql_schema_prompt('webshop', 'What has to be reordered for Hamburg?');

\echo
\echo '---- The five entries that are near a question, and unlike each other ----'
\echo

SELECT rank, datasource, type, round(similarity::numeric, 3) AS similarity, left(text, 60) AS text
FROM nl2sql_mmr('customers with unpaid invoices', k => 5);

\echo
\echo '---- Is everything in order? ----'
\echo

SELECT datasource, status, entries, problems, warnings FROM nl2sql_health();

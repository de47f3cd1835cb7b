-- What `make demo` prints in the end: curated content of the datasource chinook. psql runs this with -e.

\echo
\echo '---- What the team knows the right SQL for ----'
\echo

SELECT * FROM nl2sql_curated_import($yaml$
datasources:
  chinook:
    verified_queries:
    - id: top_customers_by_revenue
      description: Customers ranked by what they were billed in a calendar year
      questions:
      - Who are our top {n} customers by revenue in {year}?
      - Which {n} customers spent the most in {year}?
      params:
        n: {type: int, default: 10, min: 1, max: 100}
        year: {type: int, min: 2021, max: 2025, example: 2023}
      sql: |
        SELECT c.customer_id, c.first_name || ' ' || c.last_name AS customer, sum(i.total) AS revenue
        FROM customer c
        JOIN invoice i USING (customer_id)
        WHERE extract(year FROM i.invoice_date) = :year
        GROUP BY c.customer_id, customer
        ORDER BY revenue DESC, c.customer_id
        LIMIT :n
    - id: sales_by_country
      description: Invoices and revenue of each billing country since a day, highest revenue first
      questions:
      - What are total sales by country since {since}?
      - Which countries bring in the most revenue since {since}?
      params:
        since: {type: date, default: 2021-01-01}
      sql: |
        SELECT billing_country, count(*) AS invoices, sum(total) AS revenue
        FROM invoice
        WHERE invoice_date >= :since
        GROUP BY billing_country
        ORDER BY revenue DESC, billing_country
    - id: tracks_of_genre
      description: Number of tracks of a genre, and how long they are on average
      questions:
      - How many {genre} tracks do we have?
      params:
        genre: {type: string, choices: [Rock, Jazz, Metal, Latin, Blues], example: Jazz}
      sql: |
        SELECT count(*) AS tracks, round(avg(t.milliseconds) / 1000.0, 1) AS seconds
        FROM track t JOIN genre g ON g.genre_id = t.genre_id
        WHERE g.name = :genre
    metrics:
    - name: average_invoice
      description: What a customer is billed at a time, on average
      expression: round(avg(total), 2)
      table: invoice
    glossary:
    - term: live record
      definition: An album recorded on stage; its title says so
      synonyms: [concert album]
      tables: [album]
$yaml$);

SELECT datasource, status, entries, embedded, reused FROM nl2sql_index('chinook', curated_only => true);

SELECT query_id, round(similarity::numeric, 3) AS similarity, phrasing, params -> 'n' -> 'value' AS n, params -> 'year' -> 'value' AS year
FROM nl2sql_match('top 3 customers in 2022', k => 2);

SELECT nl2sql_bind('chinook', 'top_customers_by_revenue', '{"n": 3, "year": 2022}');

SELECT nl2sql_bind('chinook', query_id, params) AS sql FROM nl2sql_match('top 3 customers in 2022', k => 1) \gset
:sql ;

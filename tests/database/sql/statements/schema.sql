-- The tables that passing.txt and refused.txt speak of: those of Postgres's documentation, and some with hard names.
CREATE SCHEMA archive;
CREATE TYPE public.mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE public.address AS (street text, city text, zip text);

CREATE TABLE public.distributors (did integer PRIMARY KEY, name text);
CREATE TABLE public.films (code text PRIMARY KEY, title text, did integer, date_prod date, kind text, len interval);
CREATE TABLE public.actors (id integer PRIMARY KEY, name text);
CREATE TABLE public.weather (city text, temp_lo integer, temp_hi integer, prcp real, date date);
CREATE TABLE public.cities (name text, population integer, elevation integer, location point);
CREATE TABLE public.employee (employee_name text, manager_name text, department text, salary numeric, addr public.address, feels public.mood);
CREATE TABLE public.empsalary (depname text, empno integer, salary integer, enroll_date date);
CREATE TABLE public.sal_emp (name text, pay_by_quarter integer[], schedule text[]);
CREATE TABLE public.orders (id integer PRIMARY KEY, customer text, details jsonb, placed timestamptz, amount numeric, tags text[], region text);
CREATE TABLE public.items (order_id integer, product text, quantity integer, price numeric);
CREATE TABLE public.tree (id integer, link integer, data text);
CREATE TABLE public.parts (part text, sub_part text, quantity integer);
CREATE TABLE public.t1 (num integer, name text);
CREATE TABLE public.t2 (num integer, value text);
CREATE TABLE public.t3 (num integer, value text, extra text);
CREATE TABLE public.foo (fooid integer, foosubid integer, fooname text);
CREATE TABLE public.xmldata (id integer, data xml, path text);
CREATE TABLE public.documents (id integer, title text, body text, words tsvector);
CREATE TABLE public.events (id integer, kind text, starts timestamp, ends timestamp, during daterange, "user" text);
CREATE TABLE public."Odd Names" ("Key" integer, "Two Words" text, "quo""te" text, lower text, "select" text);
CREATE TABLE archive.films (code text, title text, kept boolean);
CREATE TABLE archive.reels (code text, reel integer);
CREATE VIEW public.big_orders (id, amount) AS SELECT id, amount FROM public.orders WHERE amount > 1000;

//! Three datasources with parts that a role may not see, and their curated content.

pub const SCHEMAS: &str = "
CREATE SCHEMA shop; CREATE SCHEMA clinic; CREATE SCHEMA clinic_archive; CREATE SCHEMA depot;
CREATE TABLE shop.customer (id int PRIMARY KEY, name text, email text, card_number text);
COMMENT ON TABLE shop.customer IS 'Who buys';
CREATE TABLE shop.orders (id int PRIMARY KEY, customer_id int REFERENCES shop.customer, state text, total numeric(10,2));
CREATE TABLE shop.payment (id int PRIMARY KEY, order_id int UNIQUE REFERENCES shop.orders, iban text);
COMMENT ON COLUMN shop.payment.iban IS 'Account the money came from';
CREATE TABLE shop.order_item (order_id int REFERENCES shop.orders, line_no int, sku text, PRIMARY KEY (order_id, line_no));
CREATE VIEW shop.open_order AS SELECT id AS order_no, total FROM shop.orders WHERE state = 'open';
CREATE TABLE clinic.patient (id int PRIMARY KEY, full_name text, diagnosis text);
CREATE TABLE clinic.visit (id int PRIMARY KEY, patient_id int REFERENCES clinic.patient, fee numeric(8,2));
CREATE TABLE clinic.secret_trial (id int PRIMARY KEY, patient_id int REFERENCES clinic.patient);
CREATE TABLE clinic_archive.old_visit (id int, patient_id int REFERENCES clinic.patient);
CREATE TABLE depot.shipment (id int PRIMARY KEY, order_id int REFERENCES shop.orders, sent_on date);
CREATE TABLE depot.pallet (id int PRIMARY KEY, shipment_id int REFERENCES depot.shipment, weight numeric(8,2));
INSERT INTO shop.customer VALUES (1, 'a', 'b', 'c'), (2, 'd', 'e', 'f');
ANALYZE shop.customer;";

/// Registration of each datasource; `only` picks the schemas that exist.
pub const SHOP: &str = "SELECT nl2sql_register('shop', description => 'Online shop: customers, orders, payments',
    sample_questions => ARRAY['Who bought most?', 'Which orders are open?'])";
pub const CLINIC: &str = "SELECT nl2sql_register('clinic', domains => ARRAY['health'],
    schemas => ARRAY(SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'clinic%' ORDER BY 1),
    description => 'Patients and their visits', sample_questions => ARRAY['Which patients came twice?'])";
pub const DEPOT: &str = "SELECT nl2sql_register('depot', description => 'Shipments and pallets')";

/// Curated content, one piece at a time: a piece that reads a missing object is not imported.
pub const CURATED: &str = r#"DO $do$
DECLARE
    piece text;
BEGIN
    FOREACH piece IN ARRAY ARRAY[
        '{"shop": {"verified_queries": [{"id": "orders_of", "description": "Open orders of a customer", "questions": ["What did {who} order?"],
            "params": {"who": {"type": "string"}}, "sql": "SELECT o.id, o.total FROM orders o JOIN customer c ON c.id = o.customer_id WHERE c.name = :who"}]}}',
        '{"shop": {"verified_queries": [{"id": "card_numbers", "questions": ["Which card numbers do we have?"], "sql": "SELECT card_number FROM customer"}]}}',
        '{"shop": {"verified_queries": [{"id": "how_many", "questions": ["How many customers are there?"], "sql": "SELECT count(*) FROM customer"}]}}',
        '{"shop": {"verified_queries": [{"id": "same_name", "questions": ["Who has the same name?"], "sql": "SELECT name FROM customer GROUP BY name HAVING count(*) > 1"}]}}',
        '{"shop": {"metrics": [{"name": "average_order", "expression": "avg(total)", "table": "orders"}]}}',
        '{"shop": {"metrics": [{"name": "mail_share", "expression": "count(email)", "table": "customer"}]}}',
        '{"shop": {"glossary": [{"term": "regular", "definition": "who comes again", "tables": ["customer"]}]}}',
        '{"clinic": {"verified_queries": [{"id": "fees", "questions": ["What did visits since {since} cost?"],
            "params": {"since": {"type": "date", "default": "2020-01-01"}}, "sql": "SELECT sum(fee) FROM visit WHERE :since < now()"}]}}',
        '{"clinic": {"verified_queries": [{"id": "twice", "questions": ["Which patients came twice?"],
            "sql": "SELECT full_name FROM patient p WHERE (SELECT count(*) FROM visit v WHERE v.patient_id = p.id) > 1"}]}}',
        '{"clinic": {"metrics": [{"name": "total_fee", "expression": "sum(fee)", "table": "visit"}]}}',
        '{"clinic": {"glossary": [{"term": "follow-up", "definition": "a second visit", "synonyms": ["check-up"], "tables": ["visit", "patient"]}]}}',
        '{"depot": {"verified_queries": [{"id": "sent", "questions": ["What was sent?"], "sql": "SELECT s.sent_on, p.weight FROM shipment s JOIN pallet p ON p.shipment_id = s.id"}]}}'
    ] LOOP
        BEGIN
            PERFORM nl2sql_curated_import(format('{"datasources": %s}', piece), replace => false);
        EXCEPTION WHEN invalid_parameter_value OR undefined_object THEN
            NULL;
        END;
    END LOOP;
END
$do$"#;

-- A help desk: the support department of a software company. Made up for the demo; it shares words with the other two
-- schemas (customers, invoices, agents, priorities), so that routing has something to decide.

BEGIN;

CREATE SCHEMA helpdesk;
SET LOCAL search_path = helpdesk, pg_catalog;

-- A number from 0 to n-1 that looks random and depends on the seed alone.
CREATE OR REPLACE FUNCTION pg_temp.pick(seed text, n integer) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$ SELECT ('x' || substr(md5(seed), 1, 7))::bit(28)::integer % n $$;

CREATE TYPE ticket_status AS ENUM ('new', 'open', 'pending', 'escalated', 'resolved', 'closed');
CREATE TYPE ticket_priority AS ENUM ('low', 'normal', 'high', 'urgent');
CREATE TYPE channel AS ENUM ('email', 'chat', 'phone', 'web form');

CREATE TABLE team (
    team_id integer PRIMARY KEY,
    name text NOT NULL UNIQUE
);

CREATE TABLE agent (
    agent_id integer PRIMARY KEY,
    team_id integer NOT NULL REFERENCES team,
    full_name text NOT NULL,
    email text NOT NULL,
    hired_on date NOT NULL,
    on_leave boolean NOT NULL DEFAULT false
);

CREATE TABLE sla_policy (
    sla_policy_id integer PRIMARY KEY,
    name text NOT NULL,
    first_reply_hours integer NOT NULL,
    resolution_hours integer NOT NULL
);

CREATE TABLE customer (
    customer_id integer PRIMARY KEY,
    company_name text NOT NULL,
    country text NOT NULL,
    industry text,
    sla_policy_id integer NOT NULL REFERENCES sla_policy,
    customer_since date NOT NULL
);

CREATE TABLE contact (
    contact_id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES customer,
    full_name text NOT NULL,
    email text NOT NULL
);

CREATE TABLE support_invoice (
    support_invoice_id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES customer,
    billed_month date NOT NULL,
    hours numeric(6, 1) NOT NULL,
    amount numeric(10, 2) NOT NULL,
    due_on date NOT NULL,
    paid_on date
);

CREATE TABLE ticket (
    ticket_id integer PRIMARY KEY,
    contact_id integer NOT NULL REFERENCES contact,
    agent_id integer REFERENCES agent,
    subject text NOT NULL,
    category text NOT NULL,
    channel channel NOT NULL,
    priority ticket_priority NOT NULL,
    status ticket_status NOT NULL,
    opened_at timestamptz NOT NULL,
    first_reply_at timestamptz,
    resolved_at timestamptz
);

CREATE TABLE ticket_message (
    ticket_message_id integer PRIMARY KEY,
    ticket_id integer NOT NULL REFERENCES ticket,
    agent_id integer REFERENCES agent,
    sent_at timestamptz NOT NULL,
    body text NOT NULL
);

CREATE TABLE satisfaction_rating (
    ticket_id integer PRIMARY KEY REFERENCES ticket,
    score smallint NOT NULL CHECK (score BETWEEN 1 AND 5),
    rated_at timestamptz NOT NULL
);

COMMENT ON SCHEMA helpdesk IS 'Customer support: tickets, the agents who handle them, reply times and satisfaction';
COMMENT ON TABLE team IS 'Groups of support agents';
COMMENT ON TABLE agent IS 'Support staff who answer tickets';
COMMENT ON COLUMN agent.on_leave IS 'Away at present: gets no new tickets';
COMMENT ON TABLE sla_policy IS 'Service levels: how fast a customer was promised a reply and a solution';
COMMENT ON COLUMN sla_policy.first_reply_hours IS 'Longest time until the first reply that was promised';
COMMENT ON TABLE customer IS 'Companies with a support contract';
COMMENT ON TABLE contact IS 'People at a customer who open tickets';
COMMENT ON TABLE support_invoice IS 'What a customer is billed each month for support hours';
COMMENT ON COLUMN support_invoice.paid_on IS 'Day the payment arrived; empty while the invoice is unpaid';
COMMENT ON TABLE ticket IS 'Problems and questions that customers reported';
COMMENT ON COLUMN ticket.agent_id IS 'Who is working on it; empty while unassigned';
COMMENT ON COLUMN ticket.category IS 'What it is about: login, billing, bug, feature request, performance';
COMMENT ON COLUMN ticket.first_reply_at IS 'When an agent first answered';
COMMENT ON TABLE ticket_message IS 'The conversation on a ticket';
COMMENT ON COLUMN ticket_message.agent_id IS 'The agent who wrote it; empty if the contact did';
COMMENT ON TABLE satisfaction_rating IS 'How content the contact was with the solution';
COMMENT ON COLUMN satisfaction_rating.score IS 'From 1, unhappy, to 5, delighted';

INSERT INTO team VALUES (1, 'First line'), (2, 'Billing'), (3, 'Engineering');

INSERT INTO agent
SELECT n, n % 3 + 1, name, lower(replace(name, ' ', '.')) || '@support.example', date '2019-01-07' + n * 97, n = 7
FROM unnest(ARRAY[
    'Priya Nair', 'Tomas Keller', 'Aisha Diallo', 'Marco Conti', 'Hannah Berg', 'Diego Ramos', 'Yuki Mori',
    'Elena Popova', 'Samuel Adeyemi', 'Claire Fontaine', 'Omar Haddad', 'Grace Walsh'
]) WITH ORDINALITY AS a(name, ordinal), LATERAL (SELECT ordinal::integer AS n) AS o;

INSERT INTO sla_policy VALUES (1, 'Standard', 24, 120), (2, 'Business', 8, 48), (3, 'Premium', 1, 12);

INSERT INTO customer
SELECT n, first[pg_temp.pick('company a' || n, 10) + 1] || ' ' || second[n % 8 + 1],
    (ARRAY['Germany', 'France', 'Spain', 'Poland', 'Italy', 'Sweden', 'Ireland'])[pg_temp.pick('land' || n, 7) + 1],
    (ARRAY['logistics', 'banking', 'retail', 'health care', 'education'])[pg_temp.pick('industry' || n, 5) + 1],
    (ARRAY[1, 1, 1, 2, 2, 3])[pg_temp.pick('sla' || n, 6) + 1], date '2020-03-01' + pg_temp.pick('since' || n, 1500)
FROM generate_series(1, 40) AS n,
    (VALUES (
        ARRAY['Alpine', 'Baltic', 'Meridian', 'Harbour', 'Union', 'Summit', 'Lumen', 'Quartz', 'Orchard', 'Beacon'],
        ARRAY['Freight', 'Savings Bank', 'Foods', 'Clinics', 'Academy', 'Insurance', 'Motors', 'Energy']
    )) AS words(first, second);

INSERT INTO contact
SELECT n, n % 40 + 1, name, lower(replace(name, ' ', '.')) || n || '@customer.example'
FROM (
    SELECT n, (ARRAY['Ines', 'Jonas', 'Marta', 'Pavel', 'Sofia', 'Liam', 'Nora', 'Emil', 'Carla', 'Adam', 'Lena'])
            [pg_temp.pick('contact a' || n, 11) + 1] || ' '
        || (ARRAY['Schulz', 'Moreau', 'Garcia', 'Nowak', 'Rossi', 'Lind', 'Byrne', 'Vogel', 'Costa', 'Kowal'])
            [pg_temp.pick('contact b' || n, 10) + 1] AS name
    FROM generate_series(1, 120) AS n
) AS t;

INSERT INTO support_invoice
SELECT row_number() OVER (ORDER BY month, customer_id), customer_id, month, hours, hours * 95, month + 44,
    CASE WHEN pg_temp.pick('paid' || customer_id || month, 9) > 0
        THEN (month + interval '30 days')::date + pg_temp.pick('day' || customer_id || month, 25) END
FROM (
    SELECT customer_id, month::date AS month, 2 + pg_temp.pick('hours' || customer_id || month, 60) / 2.0 AS hours
    FROM customer, generate_series(timestamp '2024-01-01', '2025-12-01', '1 month') AS month
) AS t;

-- The older a ticket, the likelier it is closed.
INSERT INTO ticket
SELECT n, contact_id, CASE WHEN status <> 'new' THEN pg_temp.pick('agent' || n, 12) + 1 END, subject, category,
    (ARRAY['email', 'email', 'email', 'chat', 'chat', 'phone', 'web form'])[pg_temp.pick('channel' || n, 7) + 1]::channel,
    (ARRAY['low', 'normal', 'normal', 'normal', 'high', 'high', 'urgent'])[pg_temp.pick('priority' || n, 7) + 1]::ticket_priority,
    status, opened_at, CASE WHEN status <> 'new' THEN opened_at + pg_temp.pick('reply' || n, 1800) * interval '1 minute' END,
    CASE WHEN status IN ('resolved', 'closed')
        THEN opened_at + (1900 + pg_temp.pick('solved' || n, 9000)) * interval '1 minute' END
FROM (
    SELECT n, pg_temp.pick('contact' || n, 120) + 1 AS contact_id, split_part(topic, ': ', 1) AS category,
        split_part(topic, ': ', 2) AS subject, timestamptz '2024-01-02 08:00Z' + n * interval '9 hours 40 minutes' AS opened_at,
        CASE WHEN n > 1790 THEN (ARRAY['new', 'new', 'open', 'open', 'pending', 'escalated'])[n % 6 + 1]
            WHEN n > 1600 THEN (ARRAY['open', 'pending', 'escalated', 'resolved', 'resolved', 'closed'])[n % 6 + 1]
            ELSE (ARRAY['closed', 'closed', 'closed', 'resolved'])[n % 4 + 1] END::ticket_status AS status
    FROM generate_series(1, 1800) AS n, LATERAL (SELECT (ARRAY[
        'login: Cannot sign in after the password change', 'login: Two-factor code never arrives',
        'billing: Charged twice this month', 'billing: Invoice shows the wrong address',
        'bug: Export stops at one thousand rows', 'bug: Report shows yesterday''s figures',
        'bug: Application closes when a file is attached', 'feature request: Dark colours for the dashboard',
        'feature request: Export to spreadsheets', 'performance: Search takes half a minute',
        'performance: Dashboard loads slowly in the morning'
    ])[pg_temp.pick('topic' || n, 11) + 1] AS topic) AS topics
) AS t;

-- The report, and where there is an answer, the answer and the thanks.
INSERT INTO ticket_message
SELECT row_number() OVER (ORDER BY ticket_id, sent_at), ticket_id, agent_id, sent_at, body
FROM (
    SELECT ticket_id, NULL::integer AS agent_id, opened_at AS sent_at, subject || '. Can you help?' AS body FROM ticket
    UNION ALL
    SELECT ticket_id, agent_id, first_reply_at, 'Thank you for writing. We are looking into it.' FROM ticket
    WHERE first_reply_at IS NOT NULL
    UNION ALL
    SELECT ticket_id, agent_id, resolved_at, 'This should be solved now.' FROM ticket WHERE resolved_at IS NOT NULL
) AS m;

INSERT INTO satisfaction_rating
SELECT ticket_id, (ARRAY[1, 2, 3, 4, 4, 5, 5, 5])[pg_temp.pick('score' || ticket_id, 8) + 1], resolved_at + interval '1 day'
FROM ticket WHERE status = 'closed' AND pg_temp.pick('rated' || ticket_id, 5) < 3;

CREATE INDEX ON ticket (contact_id);
CREATE INDEX ON ticket (agent_id);
CREATE INDEX ON ticket_message (ticket_id);

COMMIT;

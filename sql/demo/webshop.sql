-- A web shop for household goods, with its warehouses and deliveries. Made up for the demo; customers, invoices, orders
-- and prices are words that it shares with the other two schemas.

BEGIN;

CREATE SCHEMA webshop;
SET LOCAL search_path = webshop, pg_catalog;

-- A number from 0 to n-1 that looks random and depends on the seed alone.
CREATE OR REPLACE FUNCTION pg_temp.pick(seed text, n integer) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$ SELECT ('x' || substr(md5(seed), 1, 7))::bit(28)::integer % n $$;

CREATE TYPE order_status AS ENUM ('placed', 'paid', 'packed', 'shipped', 'delivered', 'cancelled');
CREATE TYPE payment_method AS ENUM ('card', 'bank transfer', 'cash on delivery', 'gift card');

CREATE TABLE supplier (
    supplier_id integer PRIMARY KEY,
    name text NOT NULL,
    country text NOT NULL,
    lead_time_days integer NOT NULL
);

CREATE TABLE category (
    category_id integer PRIMARY KEY,
    name text NOT NULL,
    parent_id integer REFERENCES category
);

CREATE TABLE product (
    product_id integer PRIMARY KEY,
    sku text NOT NULL UNIQUE,
    name text NOT NULL,
    category_id integer NOT NULL REFERENCES category,
    supplier_id integer NOT NULL REFERENCES supplier,
    list_price numeric(10, 2) NOT NULL,
    weight_grams integer,
    discontinued boolean NOT NULL DEFAULT false
);

CREATE TABLE warehouse (
    warehouse_id integer PRIMARY KEY,
    city text NOT NULL,
    country text NOT NULL
);

CREATE TABLE stock (
    warehouse_id integer NOT NULL REFERENCES warehouse,
    product_id integer NOT NULL REFERENCES product,
    quantity integer NOT NULL CHECK (quantity >= 0),
    reorder_level integer NOT NULL,
    counted_on date NOT NULL,
    PRIMARY KEY (warehouse_id, product_id)
);

CREATE TABLE customer (
    customer_id integer PRIMARY KEY,
    full_name text NOT NULL,
    email text NOT NULL UNIQUE,
    city text NOT NULL,
    country text NOT NULL,
    registered_on date NOT NULL,
    newsletter boolean NOT NULL DEFAULT false
);

CREATE TABLE orders (
    order_id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES customer,
    placed_at timestamptz NOT NULL,
    status order_status NOT NULL,
    payment payment_method NOT NULL,
    shipping_cost numeric(10, 2) NOT NULL,
    billing_customer_id integer REFERENCES customer
);

CREATE TABLE order_item (
    order_id integer NOT NULL REFERENCES orders,
    line_no integer NOT NULL,
    product_id integer NOT NULL REFERENCES product,
    quantity integer NOT NULL CHECK (quantity > 0),
    unit_price numeric(10, 2) NOT NULL,
    discount_percent numeric(4, 1) NOT NULL DEFAULT 0,
    PRIMARY KEY (order_id, line_no)
);

CREATE TABLE invoice (
    invoice_no text PRIMARY KEY,
    order_id integer NOT NULL UNIQUE REFERENCES orders,
    issued_on date NOT NULL,
    amount numeric(10, 2) NOT NULL,
    paid_on date
);

CREATE TABLE carrier (
    carrier_id integer PRIMARY KEY,
    name text NOT NULL
);

CREATE TABLE shipment (
    shipment_id integer PRIMARY KEY,
    order_id integer NOT NULL REFERENCES orders,
    warehouse_id integer NOT NULL REFERENCES warehouse,
    carrier_id integer NOT NULL REFERENCES carrier,
    tracking_code text NOT NULL,
    shipped_on date NOT NULL,
    promised_on date NOT NULL,
    delivered_on date
);

CREATE TABLE return_request (
    return_request_id integer PRIMARY KEY,
    order_id integer NOT NULL,
    line_no integer NOT NULL,
    reason text NOT NULL,
    requested_on date NOT NULL,
    refunded numeric(10, 2),
    FOREIGN KEY (order_id, line_no) REFERENCES order_item
);

COMMENT ON SCHEMA webshop IS 'Online shop for household goods: products, stock, orders, deliveries and returns';
COMMENT ON TABLE supplier IS 'Companies that the shop buys from';
COMMENT ON COLUMN supplier.lead_time_days IS 'Days from ordering more to its arrival in the warehouse';
COMMENT ON TABLE category IS 'Departments of the shop, nested';
COMMENT ON TABLE product IS 'Articles on sale';
COMMENT ON COLUMN product.sku IS 'Article number';
COMMENT ON COLUMN product.list_price IS 'Price in euros before discounts';
COMMENT ON TABLE warehouse IS 'Where goods are kept';
COMMENT ON TABLE stock IS 'How many pieces of each product lie in each warehouse; none there means out of stock';
COMMENT ON COLUMN stock.reorder_level IS 'When fewer than these are left, more are ordered from the supplier';
COMMENT ON TABLE customer IS 'People with an account in the shop';
COMMENT ON TABLE orders IS 'Purchases of customers';
COMMENT ON COLUMN orders.billing_customer_id IS 'Who pays, if it is not the customer who ordered';
COMMENT ON TABLE order_item IS 'The products in an order';
COMMENT ON TABLE invoice IS 'The bill of an order';
COMMENT ON COLUMN invoice.paid_on IS 'Empty while the bill is unpaid';
COMMENT ON TABLE carrier IS 'Delivery companies';
COMMENT ON TABLE shipment IS 'Parcels on their way to customers';
COMMENT ON COLUMN shipment.promised_on IS 'Day by which delivery was promised; later is late';
COMMENT ON TABLE return_request IS 'Products that customers sent back, and why';
COMMENT ON COLUMN return_request.refunded IS 'Money given back; empty while undecided';

INSERT INTO supplier
SELECT n, name, country, 5 + pg_temp.pick('lead' || n, 40)
FROM (VALUES (1, 'Nordlicht Living', 'Denmark'), (2, 'Casa Verde', 'Portugal'), (3, 'Brandt & Sons', 'Germany'),
    (4, 'Atelier Lumiere', 'France'), (5, 'Kitchenworks', 'United Kingdom'), (6, 'Silk Road Textiles', 'Turkey')
) AS s(n, name, country);

INSERT INTO category VALUES (1, 'Kitchen', NULL), (2, 'Bedroom', NULL), (3, 'Garden', NULL), (4, 'Cookware', 1),
    (5, 'Tableware', 1), (6, 'Bed linen', 2), (7, 'Lamps', 2), (8, 'Garden furniture', 3), (9, 'Tools', 3);

INSERT INTO product
SELECT n, 'HG-' || lpad((1000 + n)::text, 5, '0'),
    (ARRAY['Oak', 'Linen', 'Steel', 'Copper', 'Blue', 'White', 'Folding', 'Small', 'Large', 'Classic'])
        [(n - 1) / 15 + 1] || ' ' || things[(n - 1) % 15 + 1],
    (ARRAY[4, 4, 4, 5, 5, 5, 6, 6, 7, 7, 8, 8, 8, 9, 9])[(n - 1) % 15 + 1], pg_temp.pick('supplier' || n, 6) + 1,
    5 + pg_temp.pick('price' || n, 14000) / 100.0, 100 + pg_temp.pick('weight' || n, 9000), n % 23 = 0
FROM generate_series(1, 150) AS n,
    (VALUES (ARRAY['Saucepan', 'Frying Pan', 'Casserole', 'Bowl', 'Plate Set', 'Mug', 'Duvet Cover', 'Pillowcase',
        'Table Lamp', 'Floor Lamp', 'Garden Chair', 'Bench', 'Parasol', 'Spade', 'Watering Can'])) AS words(things);

INSERT INTO warehouse VALUES (1, 'Hamburg', 'Germany'), (2, 'Rotterdam', 'Netherlands'), (3, 'Lyon', 'France');

INSERT INTO stock
SELECT warehouse_id, product_id, greatest(0, pg_temp.pick('stock' || warehouse_id || '/' || product_id, 130) - 10),
    20, date '2025-12-01' + pg_temp.pick('count' || product_id, 28)
FROM warehouse, product;

INSERT INTO customer
SELECT n, name, lower(replace(name, ' ', '.')) || n || '@shopper.example', split_part(place, '|', 1), split_part(place, '|', 2),
    date '2022-01-01' + pg_temp.pick('registered' || n, 1200), n % 3 = 0
FROM generate_series(1, 300) AS n, LATERAL (SELECT
    (ARRAY['Mia', 'Noah', 'Lea', 'Paul', 'Zoe', 'Hugo', 'Ida', 'Finn', 'Eva', 'Lukas', 'Alma', 'Theo', 'Rosa', 'Max'])
        [pg_temp.pick('shopper a' || n, 14) + 1] || ' '
    || (ARRAY['Maier', 'Dubois', 'Jansen', 'Santos', 'Wagner', 'Bernard', 'Visser', 'Weber', 'Laurent', 'Bakker', 'Roth'])
        [pg_temp.pick('shopper b' || n, 11) + 1] AS name,
    (ARRAY['Berlin|Germany', 'Hamburg|Germany', 'Munich|Germany', 'Paris|France', 'Lyon|France', 'Amsterdam|Netherlands',
        'Utrecht|Netherlands', 'Vienna|Austria'])[pg_temp.pick('shopper c' || n, 8) + 1] AS place) AS who;

INSERT INTO orders
SELECT n, pg_temp.pick('buyer' || n, 300) + 1, timestamptz '2023-06-01 00:00Z' + n * interval '7 hours 30 minutes',
    CASE WHEN n % 29 = 0 THEN 'cancelled' WHEN n > 2980 THEN (ARRAY['placed', 'paid', 'packed'])[n % 3 + 1]
        WHEN n > 2940 THEN 'shipped' ELSE 'delivered' END::order_status,
    (ARRAY['card', 'card', 'card', 'bank transfer', 'bank transfer', 'cash on delivery', 'gift card'])
        [pg_temp.pick('method' || n, 7) + 1]::payment_method,
    (ARRAY[0, 4.9, 4.9, 9.9])[pg_temp.pick('shipping' || n, 4) + 1],
    CASE WHEN n % 40 = 0 THEN pg_temp.pick('payer' || n, 300) + 1 END
FROM generate_series(1, 3000) AS n;

INSERT INTO order_item
SELECT order_id, line, product_id, 1 + pg_temp.pick('quantity' || order_id || '/' || line, 3), list_price,
    CASE WHEN order_id % 8 = 0 THEN 10 ELSE 0 END
FROM orders, generate_series(1, 1 + order_id % 4) AS line JOIN product ON true
WHERE product_id = 1 + pg_temp.pick('item' || order_id || '/' || line, 150);

INSERT INTO invoice
SELECT 'R' || to_char(placed_at AT TIME ZONE 'UTC', 'YYYY') || '-' || lpad(order_id::text, 5, '0'), order_id,
    (placed_at AT TIME ZONE 'UTC')::date, round(sum(quantity * unit_price * (1 - discount_percent / 100)) + shipping_cost, 2),
    CASE WHEN payment = 'card' THEN (placed_at AT TIME ZONE 'UTC')::date
        WHEN pg_temp.pick('pays' || order_id, 12) > 0
            THEN (placed_at AT TIME ZONE 'UTC')::date + 3 + pg_temp.pick('pays after' || order_id, 30) END
FROM orders JOIN order_item USING (order_id)
WHERE status <> 'cancelled'
GROUP BY order_id;

INSERT INTO carrier VALUES (1, 'Blitz Parcel'), (2, 'North Sea Express'), (3, 'Rail & Road'), (4, 'Green Bike Couriers');

INSERT INTO shipment
SELECT order_id, order_id, order_id % 3 + 1, carrier_id, 'TR' || upper(substr(md5('code' || order_id), 1, 10)), shipped_on,
    shipped_on + 3, CASE WHEN status = 'delivered'
        THEN shipped_on + 1 + pg_temp.pick('days' || order_id, 2 + carrier_id) END
FROM (
    SELECT order_id, status, pg_temp.pick('carrier' || order_id, 4) + 1 AS carrier_id,
        (placed_at AT TIME ZONE 'UTC')::date + 1 AS shipped_on
    FROM orders WHERE status IN ('shipped', 'delivered')
) AS sent;

INSERT INTO return_request
SELECT row_number() OVER (ORDER BY order_id, line_no), order_id, line_no,
    (ARRAY['arrived broken', 'wrong size', 'not as pictured', 'changed my mind'])[pg_temp.pick('reason' || order_id, 4) + 1],
    delivered_on + 4, CASE WHEN pg_temp.pick('refund' || order_id, 6) > 0 THEN quantity * unit_price END
FROM order_item JOIN shipment USING (order_id)
WHERE delivered_on IS NOT NULL AND pg_temp.pick('returned' || order_id || '/' || line_no, 14) = 0;

CREATE VIEW monthly_sales AS
SELECT date_trunc('month', placed_at AT TIME ZONE 'UTC')::date AS month, category.name AS category,
    sum(quantity) AS pieces, sum(quantity * unit_price) AS revenue
FROM orders JOIN order_item USING (order_id) JOIN product USING (product_id) JOIN category USING (category_id)
WHERE status <> 'cancelled'
GROUP BY 1, 2;
COMMENT ON VIEW monthly_sales IS 'Pieces sold and revenue of each category, month by month';

CREATE INDEX ON orders (customer_id);
CREATE INDEX ON order_item (product_id);
CREATE INDEX ON shipment (order_id);

COMMIT;

-- Chinook, the well-known sample database of a digital music shop: its eleven tables and columns as they are known, with
-- names in lower case so that no query has to quote them. The rows are made up here, by arithmetic alone: every run
-- loads the same ones.

BEGIN;

CREATE SCHEMA chinook;
SET LOCAL search_path = chinook, pg_catalog;

-- A number from 0 to n-1 that looks random and depends on the seed alone.
CREATE OR REPLACE FUNCTION pg_temp.pick(seed text, n integer) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$ SELECT ('x' || substr(md5(seed), 1, 7))::bit(28)::integer % n $$;

CREATE TABLE artist (
    artist_id integer PRIMARY KEY,
    name varchar(120) NOT NULL
);

CREATE TABLE album (
    album_id integer PRIMARY KEY,
    title varchar(160) NOT NULL,
    artist_id integer NOT NULL REFERENCES artist
);

CREATE TABLE media_type (
    media_type_id integer PRIMARY KEY,
    name varchar(120) NOT NULL
);

CREATE TABLE genre (
    genre_id integer PRIMARY KEY,
    name varchar(120) NOT NULL
);

CREATE TABLE track (
    track_id integer PRIMARY KEY,
    name varchar(200) NOT NULL,
    album_id integer REFERENCES album,
    media_type_id integer NOT NULL REFERENCES media_type,
    genre_id integer REFERENCES genre,
    composer varchar(220),
    milliseconds integer NOT NULL,
    bytes integer,
    unit_price numeric(10, 2) NOT NULL
);

CREATE TABLE playlist (
    playlist_id integer PRIMARY KEY,
    name varchar(120) NOT NULL
);

CREATE TABLE playlist_track (
    playlist_id integer NOT NULL REFERENCES playlist,
    track_id integer NOT NULL REFERENCES track,
    PRIMARY KEY (playlist_id, track_id)
);

CREATE TABLE employee (
    employee_id integer PRIMARY KEY,
    last_name varchar(20) NOT NULL,
    first_name varchar(20) NOT NULL,
    title varchar(30),
    reports_to integer REFERENCES employee,
    birth_date date,
    hire_date date,
    address varchar(70),
    city varchar(40),
    state varchar(40),
    country varchar(40),
    postal_code varchar(10),
    phone varchar(24),
    fax varchar(24),
    email varchar(60)
);

CREATE TABLE customer (
    customer_id integer PRIMARY KEY,
    first_name varchar(40) NOT NULL,
    last_name varchar(20) NOT NULL,
    company varchar(80),
    address varchar(70),
    city varchar(40),
    state varchar(40),
    country varchar(40),
    postal_code varchar(10),
    phone varchar(24),
    fax varchar(24),
    email varchar(60) NOT NULL,
    support_rep_id integer REFERENCES employee
);

CREATE TABLE invoice (
    invoice_id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES customer,
    invoice_date timestamp NOT NULL,
    billing_address varchar(70),
    billing_city varchar(40),
    billing_state varchar(40),
    billing_country varchar(40),
    billing_postal_code varchar(10),
    total numeric(10, 2) NOT NULL
);

CREATE TABLE invoice_line (
    invoice_line_id integer PRIMARY KEY,
    invoice_id integer NOT NULL REFERENCES invoice,
    track_id integer NOT NULL REFERENCES track,
    unit_price numeric(10, 2) NOT NULL,
    quantity integer NOT NULL CHECK (quantity > 0)
);

COMMENT ON SCHEMA chinook IS 'Digital music shop: artists, albums, tracks and what customers bought of them';
COMMENT ON TABLE artist IS 'Bands and solo musicians';
COMMENT ON TABLE album IS 'Records, each by one artist';
COMMENT ON COLUMN album.title IS 'Name printed on the record';
COMMENT ON TABLE media_type IS 'File formats in which tracks are sold, such as MPEG or AAC';
COMMENT ON TABLE genre IS 'Musical styles: rock, jazz, metal and so on';
COMMENT ON TABLE track IS 'Songs and videos that can be bought one by one';
COMMENT ON COLUMN track.composer IS 'Who wrote the song; unknown for some';
COMMENT ON COLUMN track.milliseconds IS 'Playing time in milliseconds';
COMMENT ON COLUMN track.bytes IS 'Size of the file';
COMMENT ON COLUMN track.unit_price IS 'Current price in US dollars';
COMMENT ON TABLE playlist IS 'Named collections of tracks put together by the editors';
COMMENT ON TABLE playlist_track IS 'Which tracks are on which playlist';
COMMENT ON TABLE employee IS 'Staff of the shop, with who reports to whom';
COMMENT ON COLUMN employee.reports_to IS 'The manager; none for the general manager';
COMMENT ON TABLE customer IS 'People who buy music';
COMMENT ON COLUMN customer.company IS 'Employer, for customers who buy for one';
COMMENT ON COLUMN customer.support_rep_id IS 'The employee who looks after this customer';
COMMENT ON TABLE invoice IS 'Purchases: one invoice for each time a customer bought something';
COMMENT ON COLUMN invoice.total IS 'Amount paid in US dollars, the sum of the lines';
COMMENT ON TABLE invoice_line IS 'The single tracks sold on an invoice';
COMMENT ON COLUMN invoice_line.unit_price IS 'Price at the time of the sale';

INSERT INTO genre
SELECT n, name FROM unnest(ARRAY[
    'Rock', 'Jazz', 'Metal', 'Alternative & Punk', 'Rock And Roll', 'Blues', 'Latin', 'Reggae', 'Pop', 'Soundtrack',
    'Bossa Nova', 'Easy Listening', 'Heavy Metal', 'R&B/Soul', 'Electronica/Dance', 'World', 'Hip Hop/Rap',
    'Science Fiction', 'TV Shows', 'Sci Fi & Fantasy', 'Drama', 'Comedy', 'Alternative', 'Classical', 'Opera'
]) WITH ORDINALITY AS g(name, n);

INSERT INTO media_type
SELECT n, name FROM unnest(ARRAY[
    'MPEG audio file', 'Protected AAC audio file', 'Protected MPEG-4 video file', 'Purchased AAC audio file',
    'AAC audio file'
]) WITH ORDINALITY AS m(name, n);

-- 275 artists: eleven first words times twenty-five second ones, each pair once.
INSERT INTO artist
SELECT n + 1, first[n % 11 + 1] || ' ' || second[n % 25 + 1]
FROM generate_series(0, 274) AS n,
    (VALUES (
        ARRAY['The Velvet', 'Northern', 'Paper', 'Electric', 'The Silent', 'Golden', 'Midnight', 'Broken', 'The Last',
            'Copper', 'Holy'],
        ARRAY['Lanterns', 'Harbour', 'Tigers', 'Avenue', 'Choir', 'Machines', 'Foxes', 'Parade', 'Mirrors', 'Rivers',
            'Kings', 'Sisters', 'Engine', 'Gardens', 'Wolves', 'Orchestra', 'Signals', 'Trio', 'Pilots', 'Shadows',
            'Satellites', 'Brothers', 'Thunder', 'Letters', 'Carnival']
    )) AS words(first, second);

INSERT INTO album
SELECT n, first[pg_temp.pick('album a' || n, 12) + 1] || ' ' || second[pg_temp.pick('album b' || n, 15) + 1]
        || CASE WHEN n % 9 = 0 THEN ' [Live]' WHEN n % 14 = 0 THEN ' (Remastered)' ELSE '' END,
    CASE WHEN n <= 204 THEN n ELSE pg_temp.pick('album c' || n, 60) + 1 END
FROM generate_series(1, 347) AS n,
    (VALUES (
        ARRAY['Songs for', 'Letters from', 'Return to', 'The Best of', 'Nights in', 'Beyond', 'Echoes of', 'A Year in',
            'Leaving', 'Under', 'Notes on', 'Almost'],
        ARRAY['the Island', 'Winter', 'Lisbon', 'the Machine', 'Tomorrow', 'the Open Road', 'Silence', 'Summer',
            'the Deep', 'Home', 'the City', 'Gravity', 'the Garden', 'Midnight', 'the Radio']
    )) AS words(first, second);

-- An album keeps to one genre; rock, latin, metal and punk are the most frequent.
INSERT INTO track
SELECT n, verb[pg_temp.pick('track a' || n, 16) + 1] || ' ' || noun[pg_temp.pick('track b' || n, 20) + 1],
    album_id, 1 + CASE WHEN genre_id BETWEEN 18 AND 22 THEN 2 WHEN n % 11 = 0 THEN 1 WHEN n % 97 = 0 THEN 4 ELSE 0 END,
    genre_id, CASE WHEN n % 4 > 0 THEN writer[pg_temp.pick('track c' || album_id || n % 3, 12) + 1] END,
    length, length * 32 + pg_temp.pick('track d' || n, 90000),
    CASE WHEN genre_id BETWEEN 18 AND 22 THEN 1.99 ELSE 0.99 END
FROM (
    SELECT n, album_id,
        (ARRAY[1, 1, 1, 1, 1, 1, 1, 1, 1, 7, 7, 7, 7, 3, 3, 3, 4, 4, 4, 2, 2, 6, 9, 8, 10, 14, 15, 16, 17, 23, 24, 25, 5,
            11, 12, 13, 18, 19, 20, 21, 22])[pg_temp.pick('genre' || album_id, 41) + 1] AS genre_id,
        120000 + pg_temp.pick('length' || n, 280000) AS length
    FROM (SELECT n, 1 + (n - 1) * 347 / 3503 AS album_id FROM generate_series(1, 3503) AS n) AS t
) AS t,
    (VALUES (
        ARRAY['Waiting for', 'Running from', 'Dreaming of', 'Dancing with', 'Goodbye to', 'Calling', 'Looking for',
            'Falling into', 'Back to', 'Dear', 'Chasing', 'Breaking', 'Holding', 'Paint', 'Without', 'One More'],
        ARRAY['Rain', 'the Moon', 'Maria', 'My Shadow', 'Yesterday', 'the Fire', 'Strangers', 'Paradise', 'the Train',
            'Love', 'September', 'the Ocean', 'Angels', 'the Night', 'a Promise', 'Blue Skies', 'Johnny', 'the Wind',
            'Freedom', 'the Wall'],
        ARRAY['A. Moreau', 'J. Lindqvist', 'R. Okafor', 'T. Brennan', 'L. Castro', 'M. Dvorak', 'S. Nakamura', 'P. Hale',
            'C. Ferreira', 'D. Weiss', 'E. Marchetti', 'K. Sorensen']
    )) AS words(verb, noun, writer);

INSERT INTO playlist
SELECT n, name FROM unnest(ARRAY[
    'Music', 'Movies', 'TV Shows', 'Audiobooks', '90s Music', 'Music Videos', 'Brazilian Music', 'Classical',
    'Classical 101 - Deep Cuts', 'Classical 101 - Next Steps', 'Classical 101 - The Basics', 'Grunge',
    'Heavy Metal Classic', 'On-The-Go', 'Jazz at Night', 'Road Trip', 'Workout', 'Sunday Morning'
]) WITH ORDINALITY AS p(name, n);

INSERT INTO playlist_track
SELECT playlist_id, track_id
FROM playlist JOIN track ON CASE playlist.name
    WHEN 'Music' THEN media_type_id <> 3
    WHEN 'TV Shows' THEN genre_id IN (18, 19, 20)
    WHEN '90s Music' THEN track_id % 3 = 0 AND genre_id IN (1, 3, 4, 9)
    WHEN 'Music Videos' THEN media_type_id = 3 AND track_id % 20 = 0
    WHEN 'Brazilian Music' THEN genre_id IN (7, 11) AND track_id % 4 = 0
    WHEN 'Classical' THEN genre_id IN (24, 25)
    WHEN 'Classical 101 - The Basics' THEN genre_id = 24 AND track_id % 3 = 0
    WHEN 'Classical 101 - Next Steps' THEN genre_id = 24 AND track_id % 3 = 1
    WHEN 'Classical 101 - Deep Cuts' THEN genre_id = 24 AND track_id % 3 = 2
    WHEN 'Grunge' THEN genre_id = 1 AND track_id % 60 = 0
    WHEN 'Heavy Metal Classic' THEN genre_id IN (3, 13) AND track_id % 10 = 0
    WHEN 'Jazz at Night' THEN genre_id IN (2, 6)
    WHEN 'Road Trip' THEN genre_id IN (1, 5, 9) AND track_id % 7 = 0
    WHEN 'Workout' THEN genre_id IN (15, 17) AND track_id % 2 = 0
    WHEN 'Sunday Morning' THEN genre_id IN (2, 11, 12) AND track_id % 5 = 0
    ELSE false
END;

INSERT INTO employee (employee_id, last_name, first_name, title, reports_to, birth_date, hire_date, address, city, state,
    country, postal_code, phone, email)
SELECT n, last, first, title, boss, born, hired, 100 * n || ' Jasper Avenue NW', CASE WHEN n = 1 OR n > 6 THEN 'Edmonton'
    ELSE 'Calgary' END, 'AB', 'Canada', 'T2P ' || n || 'T3', '+1 (403) 555-010' || n,
    lower(first) || '@chinook.example'
FROM (VALUES
    (1, 'Hartley', 'Anna', 'General Manager', NULL, date '1972-02-18', date '2018-08-14'),
    (2, 'Osei', 'Nana', 'Sales Manager', 1, '1975-12-08', '2018-05-01'),
    (3, 'Petersen', 'Jane', 'Sales Support Agent', 2, '1983-08-29', '2018-04-01'),
    (4, 'Park', 'Minho', 'Sales Support Agent', 2, '1987-09-19', '2019-05-03'),
    (5, 'Johnsson', 'Sven', 'Sales Support Agent', 2, '1985-03-03', '2019-10-17'),
    (6, 'Mitchell', 'Michael', 'IT Manager', 1, '1983-07-01', '2019-10-17'),
    (7, 'Kingsley', 'Robert', 'IT Staff', 6, '1990-05-29', '2020-01-02'),
    (8, 'Calloway', 'Laura', 'IT Staff', 6, '1988-01-09', '2020-03-04')
) AS e(n, last, first, title, boss, born, hired);

INSERT INTO customer
SELECT n, first, last, CASE WHEN n % 6 = 0 THEN company[n % 5 + 1] END, pg_temp.pick('street' || n, 300) + 1 || ' ' || street[n % 6 + 1],
    place[1], place[2], place[3], lpad((pg_temp.pick('post' || n, 90000) + 10000)::text, 5, '0'),
    '+' || n % 90 + 1 || ' 555 ' || lpad(pg_temp.pick('phone' || n, 10000)::text, 4, '0'), NULL,
    lower(first || '.' || last) || n || '@mail.example', n % 3 + 3
FROM (
    SELECT n, first[pg_temp.pick('first' || n, 20) + 1] AS first, last[pg_temp.pick('last' || n, 20) + 1] AS last,
        company, street, string_to_array(place[pg_temp.pick('place' || n, 22) + 1], '|', '') AS place
    FROM generate_series(1, 59) AS n,
        (VALUES (
            ARRAY['Luis', 'Leonie', 'Francois', 'Bjorn', 'Helena', 'Astrid', 'Daan', 'Kara', 'Eduardo', 'Roberto',
                'Jennifer', 'Frank', 'Victor', 'Heather', 'Dan', 'Kathy', 'Julia', 'Martha', 'Aaron', 'Ellie'],
            ARRAY['Goncalves', 'Koehler', 'Tremblay', 'Hansen', 'Novak', 'Gruber', 'Peeters', 'Nielsen', 'Martins',
                'Almeida', 'Peterson', 'Harris', 'Stevens', 'Leacock', 'Miller', 'Chase', 'Barnett', 'Silk',
                'Mitchell', 'Sullivan'],
            ARRAY['Telbrix SA', 'Rogue Canvas Ltd', 'Banco Ribeiro', 'Woodstock Media', 'Orbit Systems'],
            ARRAY['Main Street', 'Rua Nova', 'Station Road', 'Lindenallee', 'Rue du Lac', 'King Street'],
            ARRAY['São Paulo|SP|Brazil', 'Rio de Janeiro|RJ|Brazil', 'Montréal|QC|Canada', 'Toronto|ON|Canada',
                'New York|NY|USA', 'Chicago|IL|USA', 'Mountain View|CA|USA', 'Madison|WI|USA', 'Boston|MA|USA',
                'Paris||France', 'Lyon||France', 'Berlin||Germany', 'Stuttgart||Germany', 'London||United Kingdom',
                'Edinburgh||United Kingdom', 'Prague||Czech Republic', 'Lisbon||Portugal', 'Oslo||Norway',
                'Delhi||India', 'Vienna||Austria', 'Copenhagen||Denmark', 'Budapest||Hungary']
        )) AS words(first, last, company, street, place)
) AS t;

-- 412 invoices, seven for each customer (one has six), spread evenly over the years 2021 to 2025.
INSERT INTO invoice
SELECT n, customer_id, date '2021-01-01' + (n - 1) * 1815 / 411, address, city, state, country, postal_code, 0
FROM generate_series(1, 412) AS n JOIN customer ON customer_id = n * 23 % 59 + 1;

-- 2,240 lines: the invoices have 2, 4, 6, 9, 14, 1 and 2 of them by turns.
INSERT INTO invoice_line
SELECT row_number() OVER (ORDER BY invoice_id, i), invoice_id, track_id, unit_price, 1
FROM (
    SELECT invoice_id, i, 1 + (pg_temp.pick('line' || invoice_id, 3503) + i * 9) % 3503 AS track_id
    FROM invoice, generate_series(1, (ARRAY[2, 4, 6, 9, 14, 1, 2])[(invoice_id - 1) % 7 + 1]) AS i
) AS l JOIN track USING (track_id);

UPDATE invoice SET total = sums.total
FROM (SELECT invoice_id, sum(unit_price * quantity) AS total FROM invoice_line GROUP BY invoice_id) AS sums
WHERE sums.invoice_id = invoice.invoice_id;

CREATE INDEX ON album (artist_id);
CREATE INDEX ON track (album_id);
CREATE INDEX ON invoice (customer_id);
CREATE INDEX ON invoice_line (invoice_id);
CREATE INDEX ON invoice_line (track_id);

COMMIT;

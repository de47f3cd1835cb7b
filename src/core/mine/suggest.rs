//! Drafts verified queries from the statements that pg_stat_statements has counted.

use crate::catalog::identifier::TableName;
use crate::curated::content::VerifiedQuery;
use crate::curated::param::Param;
use crate::curated::validate;
use crate::mine::comparand::RowSources;
use crate::mine::literals::constants;
use crate::mine::naming;
use crate::mine::normalized_sql::NormalizedSql;
use crate::mine::params::{NamedParam, named};
use crate::mine::repeated_expressions;
use crate::mine::statement_shape::shape;
use crate::sql::parse;
use crate::sql::parse::Statement;
use crate::sql::reads;
use crate::sql::reads::{Names, Reads};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A statement from pg_stat_statements, and its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinedStatement {
    /// Constants are replaced by `$1`, `$2`, …; some may remain.
    pub text: String,
    pub calls: i64,
}

/// A verified query for somebody to edit and import.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    pub query: VerifiedQuery,
    /// Calls of all statements of its shape.
    pub calls: i64,
    /// Relation keys.
    pub tables: Vec<String>,
    /// `schema.table.column`.
    pub columns: Vec<String>,
}

/// Drafts at most `limit` verified queries from statements that read only tables of `names`. Statements of one shape,
/// with at least `min_calls` calls together, become one suggestion, with the text that has the most calls. Sorted by calls,
/// most first, ties by SQL. `tick` is called between statements, so that the caller can cancel.
pub fn suggest(
    mined: Vec<MinedStatement>,
    names: &Names,
    min_calls: i64,
    limit: usize,
    tick: &mut dyn FnMut(),
) -> Vec<Suggestion> {
    let mut texts: BTreeMap<String, i64> = BTreeMap::new();
    for MinedStatement { text, calls } in mined {
        let known = texts.entry(text).or_default();
        *known = known.saturating_add(calls);
    }
    let mut clusters: BTreeMap<String, Cluster> = BTreeMap::new();
    for (text, calls) in texts {
        tick();
        let Some((shape, statement)) = ParameterizedStatement::of(&text, names) else { continue };
        let new = Cluster { statement, most: calls, calls };
        match clusters.get_mut(&shape) {
            Some(cluster) => cluster.add(new),
            None => drop(clusters.insert(shape, new)),
        }
    }
    let mut clusters: Vec<Cluster> = clusters.into_values().filter(|cluster| cluster.calls >= min_calls).collect();
    clusters.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.statement.sql.cmp(&b.statement.sql)));
    let mut taken = BTreeSet::new();
    let suggestions = clusters.into_iter().filter_map(|Cluster { statement, calls, .. }| {
        tick();
        let query = statement.query(&taken)?;
        // Skip what cannot be imported.
        validate::verified_query(&query, names).ok()?;
        taken.insert(query.id.clone());
        let tables = statement.reads.tables.keys().map(TableName::to_string).collect();
        Some(Suggestion { query, calls, tables, columns: statement.reads.columns() })
    });
    suggestions.take(limit).collect()
}

/// Statements of one shape.
struct Cluster {
    statement: ParameterizedStatement,
    /// Calls of `statement` alone.
    most: i64,
    calls: i64,
}

impl Cluster {
    fn add(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        let better = self.most.cmp(&other.most).then_with(|| other.statement.sql.cmp(&self.statement.sql));
        if better == Ordering::Less {
            (self.statement, self.most) = (other.statement, other.most);
        }
    }
}

/// A statement with params for its constants.
struct ParameterizedStatement {
    sql: String,
    params: Vec<NamedParam>,
    reads: Reads,
    /// In the order of the statement.
    tables: Vec<TableName>,
}

impl ParameterizedStatement {
    /// Reads a text. Returns the shape, too, or `None` if the statement is not suitable.
    fn of(text: &str, names: &Names) -> Option<(String, Self)> {
        let mut read = NormalizedSql::read(text, BTreeMap::new())?;
        let mut statement = parse::parse(&read.sql).ok()?;
        let values = repeated_expressions::values(&statement.query);
        if !values.is_empty() {
            read = NormalizedSql::read(text, values)?;
            statement = parse::parse(&read.sql).ok()?;
        }
        let text = read;
        if statement.placeholders.len() != text.placeholders {
            return None; // Postgres has no `:x`
        }
        let sources = RowSources::of(&statement.query, names);
        if !sources.known {
            return None;
        }
        let found = reads::resolve(&text.sql, &statement, names);
        if !found.problems.is_empty() || found.reads.tables.is_empty() {
            return None;
        }
        let sources = sources.reading(&found.reads);
        let constants = constants(&statement.query, &text, &sources);
        let (sql, params) = named(&text, &statement, &constants)?;
        let shape = shape(*parse::parse(&sql).ok()?.query, &sources);
        let mut tables = sources.tables;
        tables.extend(found.reads.tables.keys().filter(|table| !tables.contains(table)).cloned().collect::<Vec<_>>());
        Some((shape, Self { sql, params, reads: found.reads, tables }))
    }

    fn query(&self, taken: &BTreeSet<String>) -> Option<VerifiedQuery> {
        let Statement { query, .. } = parse::parse(&self.sql).ok()?;
        Some(VerifiedQuery {
            id: naming::id(&query, &self.tables, &self.params, taken),
            description: None,
            questions: vec![naming::phrasing(&query, &self.tables, &self.params)],
            params: self.params.iter().map(|param| (param.name.clone(), Param::new(param.param_type))).collect(),
            sql: self.sql.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::schema::{
        ColumnContract, ColumnMetadata, Schema, Table, TableContract, TableKind, TableMetadata,
    };
    use proptest::prelude::*;

    fn table(name: &str, columns: &[(&str, &str)]) -> Table {
        let column = |(name, data_type): &(&str, &str)| ColumnContract {
            name: (*name).to_owned(),
            data_type: (*data_type).to_owned(),
            nullable: true,
            primary_key: false,
        };
        Table {
            name: TableName::new("music", name),
            contract: TableContract {
                kind: TableKind::Table,
                primary_key: Vec::new(),
                columns: columns.iter().map(column).collect(),
                foreign_keys: Vec::new(),
            },
            metadata: TableMetadata {
                columns: vec![ColumnMetadata::default(); columns.len()],
                ..TableMetadata::default()
            },
        }
    }

    fn schema() -> Schema {
        Schema {
            tables: vec![
                table(
                    "Invoice",
                    &[
                        ("InvoiceId", "integer"),
                        ("CustomerId", "integer"),
                        ("InvoiceDate", "timestamp without time zone"),
                        ("BillingCountry", "character varying(40)"),
                        ("Total", "numeric(10,2)"),
                    ],
                ),
                table(
                    "customer",
                    &[
                        ("customer_id", "bigint"),
                        ("name", "text"),
                        ("country", "text"),
                        ("born", "date"),
                        ("data", "jsonb"),
                        ("tags", "text[]"),
                        ("größe", "real"),
                        ("active", "boolean"),
                    ],
                ),
            ],
        }
    }

    fn suggestions(texts: &[(&str, i64)], min_calls: i64, limit: usize) -> Vec<Suggestion> {
        let schema = schema();
        let path = ["music".to_owned()];
        let mined =
            texts.iter().map(|(text, calls)| MinedStatement { text: (*text).to_owned(), calls: *calls }).collect();
        suggest(mined, &Names::new(&path, &schema), min_calls, limit, &mut || ())
    }

    fn one(text: &str) -> Suggestion {
        let mut found = suggestions(&[(text, 5)], 5, 50);
        assert_eq!(found.len(), 1, "{text}");
        found.remove(0)
    }

    /// The SQL that is made of a statement after `FROM …`.
    fn after_from(source: &str, rest: &str) -> String {
        let sql = one(&format!("SELECT name FROM {source} {rest}")).query.sql;
        sql.strip_prefix(&format!("SELECT name FROM {source} ")).unwrap().to_owned()
    }

    fn types(suggestion: &Suggestion) -> Vec<String> {
        suggestion.query.params.iter().map(|(name, param)| format!("{name} {}", param.param_type.name())).collect()
    }

    #[test]
    fn a_suggestion_is_a_verified_query() {
        let found =
            one("SELECT \"BillingCountry\", sum(\"Total\")\nFROM \"Invoice\" WHERE \"BillingCountry\" = $1 GROUP BY 1");
        assert_eq!(found.query.id, "invoice_by_billing_country");
        assert_eq!(
            found.query.sql,
            "SELECT \"BillingCountry\", sum(\"Total\") FROM \"Invoice\" WHERE \"BillingCountry\" = :billing_country GROUP BY 1"
        );
        assert_eq!(
            found.query.questions,
            ["invoice: billing country, sum total by billing country, for billing country {billing_country}"]
        );
        assert_eq!((found.query.description.clone(), types(&found)), (None, vec!["billing_country string".to_owned()]));
        assert_eq!((found.calls, found.tables), (5, vec!["music.\"Invoice\"".to_owned()]));
        assert_eq!(found.columns, ["music.\"Invoice\".\"BillingCountry\"", "music.\"Invoice\".\"Total\""]);
        let found = one(
            "select * from customer c join \"Invoice\" on \"CustomerId\" = customer_id where country = $1 order by born limit $2 offset $3",
        );
        assert_eq!(found.query.id, "customer_invoice_by_country");
        assert_eq!(
            found.query.questions,
            ["customer and invoice: all columns, for country {country}, at most {n}, leaving out {skip}"]
        );
        assert_eq!(types(&found), ["country string", "n int", "skip int"]);
        let found = one("SELECT count(*), extract(year FROM born) AS year FROM customer GROUP BY 2");
        assert_eq!(
            (found.query.id.as_str(), found.query.questions[0].as_str()),
            ("customer_by_year", "customer: count, year by year")
        );
        assert_eq!(one("SELECT count(*) FROM customer").query.id, "customer");
    }

    #[test]
    fn params_are_named_after_their_comparands() {
        for (mined, named) in [
            ("country = $1", "country = :country"),
            ("$1 = c.country", ":country = c.country"),
            ("lower(country) = lower($1)", "lower(country) = lower(:country)"),
            ("born::date >= $1", "born::date >= :born"),
            ("born >= $1 AND born < $2", "born >= :born_from AND born < :born_to"),
            ("born >= $1 AND $2 >= c.born AND born > $3", "born >= :born AND :born_2 >= c.born AND born > :born_3"),
            ("$1 <= born AND born <= $2", ":born_from <= born AND born <= :born_to"),
            ("born NOT BETWEEN $1 AND $2", "born NOT BETWEEN :born_from AND :born_to"),
            ("born BETWEEN $1 AND now()", "born BETWEEN :born_from AND now()"),
            ("country IN ($1,$2, $3)", "country IN (:country,:country_2, :country_3)"),
            ("country IN ($1 /*, ... */)", "country IN (:country)"),
            ("customer_id = ANY ($1)", "customer_id = ANY (:customer_id)"),
            ("customer_id = ANY (ARRAY[$1, $2])", "customer_id = ANY (ARRAY[:customer_id, :customer_id_2])"),
            ("(country, name) = ($1, $2)", "(country, name) = (:country, :name)"),
            ("extract(year from born) = $1", "extract(year from born) = :year"),
            ("date_part('month', born) = $1", "date_part('month', born) = :month"),
            ("EXTRACT($1 FROM born) = $2", "date_part(:p1, born) = :born_part"),
            ("date_trunc('month', born) = $1", "date_trunc('month', born) = :born"),
            ("name ILIKE $1 OR name ~ $2", "name ILIKE :name OR name ~ :name_2"),
            ("name LIKE $1 || $2 ESCAPE $3", "name LIKE :name || :name_2 ESCAPE :p1"),
            ("country = $1 OR name = $1", "country = :country OR name = :country"),
            ("data->>'Kind' = $1 AND data->>$2 = $3", "data->>'Kind' = :kind AND data->>:p1 = :data"),
            ("born > date $1 - $2", "born > :born - :p1"),
            ("born > now() - interval $1", "born > now() - :p1::interval"),
            ("customer_id * $1 > $2", "customer_id * :p1 > :customer_id"),
            ("\"größe\" > $1 AND f(country, $2)", "\"größe\" > :p1 AND f(country, :p2)"),
            ("tags @> $1 AND active IS NOT DISTINCT FROM $2", "tags @> :tags AND active IS NOT DISTINCT FROM :active"),
            ("country = $1 LIMIT $2", "country = :country LIMIT :n"),
            ("country = $1 FETCH FIRST $2 ROWS ONLY", "country = :country FETCH FIRST :n ROWS ONLY"),
        ] {
            assert_eq!(after_from("customer c", &format!("WHERE {mined}")), format!("WHERE {named}"));
        }
    }

    #[test]
    fn literals_of_clauses_that_filter_become_params() {
        for (mined, named) in [
            ("WHERE country = 'Peru' AND customer_id > -5", "WHERE country = :country AND customer_id > :customer_id"),
            (
                "WHERE born > date '2000-01-01' AND born<'2001-01-01'::date",
                "WHERE born > :born_from AND born<:born_to::date",
            ),
            ("WHERE born >= timestamp without time zone '2000-01-01' - 30", "WHERE born >= :born - :p1"),
            ("WHERE customer_id=5AND name LIKE 'a%'", "WHERE customer_id=:customer_id AND name LIKE :name"),
            (
                "WHERE lower('A') = lower(name) AND left(name, 2) = 'ab'",
                "WHERE lower(:name) = lower(name) AND left(name, 2) = :name_2",
            ),
            (
                "WHERE customer_id * 2 > 3 AND coalesce(country, 'x') = E'a\\'b'",
                "WHERE customer_id * :p1 > :customer_id AND coalesce(country, 'x') = :country",
            ),
            ("WHERE 1 = 1 AND active = true AND country IS NULL", "WHERE 1 = 1 AND active = true AND country IS NULL"),
            (
                "WHERE born > now() - interval '1 day' AND tags[1] = $$x$$",
                "WHERE born > now() - interval '1 day' AND tags[1] = :tags",
            ),
            (
                "WHERE born > '2000-01-01' ORDER BY 1 LIMIT 10 OFFSET 20",
                "WHERE born > :born ORDER BY 1 LIMIT :n OFFSET :skip",
            ),
            ("WHERE to_char(born, 'YYYY') = '2000'", "WHERE to_char(born, 'YYYY') = :born"),
            ("WHERE born < to_date('2000', 'YYYY')", "WHERE born < to_date(:born, 'YYYY')"),
            (
                "WHERE name = 'x' || country || 'y' AND numeric '5' > customer_id",
                "WHERE name = 'x' || country || 'y' AND :customer_id > customer_id",
            ),
            (
                "JOIN (\"Invoice\" i JOIN \"Invoice\" j ON j.\"Total\" > 3) ON i.\"Total\" < 5",
                "JOIN (\"Invoice\" i JOIN \"Invoice\" j ON j.\"Total\" > :total) ON i.\"Total\" < :total_2",
            ),
            (
                "GROUP BY 1 HAVING count(*) > 5 AND min(born) < $1",
                "GROUP BY 1 HAVING count(*) > :count AND min(born) < :min_born",
            ),
        ] {
            assert_eq!(after_from("customer c", mined), named);
        }
        let kept = "SELECT 1, 'x', country = 'y', count(*) FILTER (WHERE name = 'z'), numeric(4, 2) '7', CAST(customer_id AS numeric(5, 1)) FROM customer GROUP BY 3";
        assert_eq!(one(kept).query.sql, kept);
        let inner = one(
            "SELECT (SELECT max(born) FROM customer WHERE country = 'x') FROM customer WHERE name IN (SELECT 'a' FROM customer WHERE name > 'b')",
        );
        assert_eq!(
            inner.query.sql,
            "SELECT (SELECT max(born) FROM customer WHERE country = :country) FROM customer WHERE name IN (SELECT 'a' FROM customer WHERE name > :name)"
        );
    }

    #[test]
    fn replaced_constants_become_params() {
        for (mined, named) in [
            (
                "SELECT $1 AS x, round(\"Total\", $2) FROM \"Invoice\"",
                "SELECT :p1 AS x, round(\"Total\", :p2) FROM \"Invoice\"",
            ),
            (
                "SELECT CASE WHEN country = $1 THEN $2 END FROM customer",
                "SELECT CASE WHEN country = :country THEN :p1 END FROM customer",
            ),
            // A repeated expression shows the constant.
            (
                "SELECT date_trunc($1, born), count($2) FROM customer GROUP BY date_trunc('month', born) ORDER BY date_trunc('month', born), f($5, born)",
                "SELECT date_trunc('month', born), count(1) FROM customer GROUP BY date_trunc('month', born) ORDER BY date_trunc('month', born), f(:p1, born)",
            ),
            (
                "SELECT EXTRACT($1 FROM born) FROM customer WHERE EXTRACT($2 FROM born) > $3 GROUP BY EXTRACT(year FROM born)",
                "SELECT EXTRACT(year FROM born) FROM customer WHERE date_part(:p1, born) > :born_part GROUP BY EXTRACT(year FROM born)",
            ),
            (
                "SELECT name FROM customer WHERE EXISTS (SELECT $1 FROM \"Invoice\")",
                "SELECT name FROM customer WHERE EXISTS (SELECT 1 FROM \"Invoice\")",
            ),
            ("SELECT count($1) FROM customer WHERE name = $1", "SELECT count(:name) FROM customer WHERE name = :name"),
            (
                "SELECT name FROM customer, generate_series($1, $2) p1 WHERE p1 = $3",
                "SELECT name FROM customer, generate_series(:p1, :p2) p1 WHERE p1 = :p1_2",
            ),
            ("TABLE music.customer LIMIT $1", "TABLE music.customer LIMIT :n"),
        ] {
            assert_eq!(one(mined).query.sql, named);
        }
    }

    #[test]
    fn types_are_those_of_the_columns() {
        for (clause, wanted) in [
            (
                "customer_id = $1 AND \"Total\" > $2 AND born = $3 AND \"InvoiceDate\" = $4 AND data = $5",
                "born date, customer_id int, data string, invoice_date date, total float",
            ),
            (
                "tags = $1 AND active = $2 AND customer_id = ANY ($3) AND customer_id IN ($4)",
                "active string, customer_id string, customer_id_2 int, tags string",
            ),
            (
                "extract(year FROM born) = $1 AND born::text = $2 AND born = $3::date",
                "born string, born_2 date, year int",
            ),
            (
                "customer_id > 1.5 AND x.s > 3 AND x.s = 'a' AND x.s < date '2000-01-01'",
                "customer_id float, s string, s_from int, s_to date",
            ),
            ("x.s = $1 AND x.s LIKE $2 AND $3::bigint = x.s", "s string, s_2 string, s_3 int"),
            (
                "\"Total\" * $1 > $2 + $3 AND born > born + $4 AND $5 > substring(name FROM $6)",
                "name string, p1 float, p2 string, p3 int, p4 int, total float",
            ),
            (
                "(SELECT sum(CASE WHEN country = $1 THEN $2 ELSE $3 END) FROM customer) > $4",
                "country string, p1 float, p2 float, p3 string",
            ),
            (
                "born > current_date - $1 AND born < $2::date + $3 AND born > date $4 - $5",
                "born_from date, born_to date, p1 int, p2 int, p3 int",
            ),
            ("length(name) > $1 AND avg(customer_id) > $2", "avg_customer_id float, name int"),
        ] {
            let found = one(&format!(
                "SELECT 1 FROM customer, \"Invoice\", (SELECT count(*) AS s FROM customer) x WHERE {clause}"
            ));
            let mut found = types(&found);
            found.sort();
            let mut wanted: Vec<&str> = wanted.split(", ").collect();
            wanted.sort();
            assert_eq!(found, wanted, "{clause}");
        }
    }

    #[test]
    fn unsuitable_statements_are_left_out() {
        let long = format!("SELECT name FROM customer WHERE customer_id IN ({}1)", "1, ".repeat(250));
        let huge = format!("SELECT name FROM customer -- {}", "x".repeat(100_000));
        let deep = format!("SELECT {}name{} FROM customer", "(".repeat(200), ")".repeat(200));
        for text in [
            "",
            "SELECT",
            "TABLE customer",
            "SELECT 1 + 1",
            "SELECT now()",
            "SELECT * FROM pg_class",
            "SELECT * FROM pg_catalog.pg_class, customer",
            "SELECT * FROM information_schema.tables",
            "SELECT * FROM other.customer",
            "SELECT x FROM customer",
            "SELECT name FROM customer FOR UPDATE",
            "UPDATE customer SET name = $1",
            "INSERT INTO customer SELECT * FROM customer",
            "DELETE FROM customer",
            "BEGIN",
            "SET search_path TO music",
            "WITH d AS (DELETE FROM customer RETURNING *) SELECT * FROM d",
            "COPY customer TO STDOUT",
            "EXPLAIN SELECT * FROM customer",
            "CREATE TABLE t AS SELECT * FROM customer",
            "SELECT name FROM customer; SELECT name FROM customer",
            "SELECT nextval('s') FROM customer",
            "SELECT name FROM customer WHERE name = :x",
            "SELECT name FROM customer WHERE name = 'a'\n'b'",
            "SELECT name INTO t FROM customer",
            "DECLARE c CURSOR FOR SELECT * FROM customer",
            "SELECT name FROM customer, \"CUSTOMER\"",
            "SELECT \0 name FROM customer",
            "<insufficient privilege>",
            &long,
            &huge,
            &deep,
        ] {
            assert_eq!(suggestions(&[(text, 5)], 0, 50), [], "{text}");
        }
    }

    #[test]
    fn statements_of_one_shape_are_one_suggestion() {
        let found = suggestions(
            &[
                ("SELECT name, born FROM customer WHERE country = $1", 3),
                ("SELECT born, name FROM customer WHERE country = $1", 4),
                ("select BORN,\n name from music.customer where country='Peru'", 2),
                ("SELECT name, born FROM customer WHERE country = $1", 2),
                ("SELECT name FROM customer WHERE country IN ($1)", 3),
                ("SELECT name FROM customer WHERE country IN ($1, $2)", 3),
                ("SELECT name FROM customer WHERE country <> $1", 6),
                ("SELECT name FROM customer WHERE name = $1", 4),
                ("SELECT nothing FROM customer WHERE name = $1", 100),
            ],
            5,
            50,
        );
        let shown: Vec<(&str, &str, i64)> =
            found.iter().map(|one| (one.query.id.as_str(), one.query.sql.as_str(), one.calls)).collect();
        assert_eq!(
            shown,
            [
                ("customer_by_country", "SELECT name, born FROM customer WHERE country = :country", 11),
                ("customer_by_country_2", "SELECT name FROM customer WHERE country <> :country", 6),
                ("customer_by_country_3", "SELECT name FROM customer WHERE country IN (:country)", 6),
            ]
        );
        let texts = [
            ("SELECT name FROM customer", i64::MAX),
            ("SELECT NAME FROM customer", i64::MAX),
            ("SELECT born FROM customer", -1),
        ];
        assert_eq!(suggestions(&texts, 1, 50).iter().map(|one| one.calls).collect::<Vec<_>>(), [i64::MAX]);
        assert_eq!(suggestions(&texts, i64::MIN, 1).len(), 1);
        assert_eq!(suggestions(&texts, 0, 0), []);
    }

    /// Pieces that statements are made of, and others.
    const PIECES: &[&str] = &[
        "SELECT",
        "FROM",
        "WHERE",
        "customer",
        "\"Invoice\"",
        "name",
        "country",
        "c",
        "\"Total\"",
        "born",
        "$1",
        "$2",
        "$3",
        "'x'",
        "5",
        "-",
        "=",
        "<",
        ">=",
        "(",
        ")",
        ",",
        "AND",
        "OR",
        "NOT",
        "IN",
        "BETWEEN",
        "LIKE",
        "LIMIT",
        "OFFSET",
        "GROUP BY",
        "ORDER BY",
        "HAVING",
        "count(*)",
        "lower(",
        "extract(",
        "interval",
        "date",
        "timestamp with time zone",
        "::",
        "int",
        "JOIN",
        "ON",
        "*",
        "||",
        "UNION",
        "EXISTS",
        "CASE WHEN",
        "THEN",
        "END",
        "[",
        "]",
        ":",
        ":x",
        "::text",
        "WITH d AS (",
        "AS",
        "d",
        "$$",
        "E'\\'",
        "é",
        "\n",
        "/*",
        "*/",
        "--",
        ";",
        "{",
        "\0",
        "ANY",
        "ARRAY[",
    ];

    fn sound(text: &str) {
        let schema = schema();
        let path = ["music".to_owned()];
        let names = Names::new(&path, &schema);
        if let Some((_, statement)) = ParameterizedStatement::of(text, &names) {
            let query = statement.query(&BTreeSet::new()).unwrap();
            assert!(
                validate::verified_query(&query, &names).is_ok(),
                "{text}: {:?}",
                validate::verified_query(&query, &names)
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,80}", pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30)) {
            sound(&text);
            sound(&pieces.join(" "));
            sound(&format!("SELECT name FROM customer WHERE {}", pieces.join(" ")));
            sound(&format!("SELECT name FROM customer WHERE name = $1{}", pieces.concat()));
        }

        #[test]
        fn statements_give_sound_drafts(
            items in proptest::collection::vec(proptest::sample::select(&["name", "$1", "$7", "count($1)", "date_trunc($2, born)", "'x'", "customer_id * 2"][..]), 1..4),
            conditions in proptest::collection::vec(
                (
                    proptest::sample::select(&["name", "born", "\"Total\"", "$4", "lower(name)", "extract($5 from born)", "5", "(name, born)", "5 * customer_id"][..]),
                    proptest::sample::select(&["=", ">", "<=", "LIKE", "@>", "IS DISTINCT FROM", "= ANY", "||"][..]),
                    proptest::sample::select(&["$1", "($6)", "'é'", "-5", "date '2000-01-01'", "interval $3", "$2 - 30", "(ARRAY[$1, 'y'])", "($1, $2)", "\"CustomerId\""][..]),
                ),
                1..6,
            ),
            rest in proptest::sample::select(&["", "GROUP BY date_trunc($8, born)", "ORDER BY 1 LIMIT 5", "LIMIT $1 OFFSET $9"][..]),
        ) {
            let conditions: Vec<String> = conditions.iter().map(|(left, op, right)| format!("{left} {op} {right}")).collect();
            sound(&format!("SELECT {} FROM customer, \"Invoice\" WHERE {} {rest}", items.join(", "), conditions.join(" AND ")));
        }
    }
}

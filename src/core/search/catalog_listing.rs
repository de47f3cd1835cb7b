//! A datasource's tables, one line each, for a model that picks tables by reading: within a budget of tokens.

use crate::catalog::identifier::TableName;
use crate::catalog::identifier_words::split_identifier;
use crate::catalog::schema::{Schema, Table};
use std::collections::{BTreeSet, HashMap};

/// Characters of a typical token, in English and in names.
const PER_TOKEN: usize = 4;
/// Key words on a table's line, at most.
const KEY_WORDS: usize = 6;
/// Joined tables on a line, at most.
const JOINED: usize = 6;
/// Words in the names of tables that are kept but not used: they are dropped first.
const ARCHIVE: &str = " archive archived archives backup backups bak old copy tmp temp temporary staging stage deprecated \
    obsolete unused test tests legacy history hist audit log logs ";

/// Renders `schema.table | 12c | 14.3K rows | key words | -> joined tables`, one line a table, sorted by name. If the
/// lines exceed the budget, tables that look archived are dropped first, then the smallest, then the last by name.
pub fn render(schema: &Schema, budget_tokens: usize) -> String {
    let rarity = rarity(schema);
    let joined = joined(schema);
    let mut lines: Vec<(bool, i64, usize, String)> = Vec::new();
    for (at, table) in schema.tables.iter().enumerate() {
        let line = line(table, &rarity, joined.get(&table.name));
        lines.push((is_archived(&table.name.name), table.metadata.row_count.unwrap_or(0), at, line));
    }
    // Sort by what to keep first.
    lines.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)).then_with(|| a.2.cmp(&b.2)));
    let mut left = budget_tokens.saturating_mul(PER_TOKEN);
    let mut kept: Vec<(usize, String)> = Vec::new();
    for (_, _, at, line) in lines {
        let size = line.chars().count() + 1;
        if size > left {
            break;
        }
        left -= size;
        kept.push((at, line));
    }
    kept.sort_unstable_by_key(|(at, _)| *at);
    kept.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

fn line(table: &Table, rarity: &HashMap<String, usize>, joined: Option<&BTreeSet<TableName>>) -> String {
    let mut parts = vec![table.name.to_string(), format!("{}c", table.contract.columns.len())];
    if let Some(rows) = table.metadata.row_count {
        parts.push(format!("{} rows", short(rows)));
    }
    let words = key_words(table, rarity);
    if !words.is_empty() {
        parts.push(words.join(" "));
    }
    if let Some(joined) = joined {
        let mut names: Vec<String> = joined.iter().take(JOINED).map(TableName::to_string).collect();
        if joined.len() > JOINED {
            names.push("…".to_owned());
        }
        parts.push(format!("-> {}", names.join(", ")));
    }
    // A name may hold a line break.
    parts.join(" | ").chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// `999`, `14.3K`, `2M`.
fn short(rows: i64) -> String {
    let scaled = |unit: f64, name: &str| {
        let number = format!("{:.1}", rows as f64 / unit);
        format!("{}{name}", number.strip_suffix(".0").unwrap_or(&number))
    };
    match rows {
        0..1_000 => rows.to_string(),
        1_000..1_000_000 => scaled(1e3, "K"),
        1_000_000..1_000_000_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

/// The words of the table's columns that the fewest tables have, in the order of the columns.
fn key_words(table: &Table, rarity: &HashMap<String, usize>) -> Vec<String> {
    let own = split_identifier(&table.name.name);
    let mut words: Vec<String> = Vec::new();
    for word in column_words(table) {
        if !own.split(' ').any(|known| known == word) && !words.contains(&word) {
            words.push(word);
        }
    }
    let mut rare: Vec<usize> = (0..words.len()).collect();
    rare.sort_by_key(|at| (rarity.get(&words[*at]).copied().unwrap_or(0), *at));
    rare.truncate(KEY_WORDS);
    rare.sort_unstable();
    rare.into_iter().map(|at| words[at].clone()).collect()
}

fn column_words(table: &Table) -> Vec<String> {
    let columns = table.contract.columns.iter();
    let words = columns.flat_map(|column| {
        split_identifier(&column.name)
            .split(' ')
            .filter(|word| word.chars().count() > 2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    words.collect()
}

/// The number of tables that have each word in a column name.
fn rarity(schema: &Schema) -> HashMap<String, usize> {
    let mut rarity: HashMap<String, usize> = HashMap::new();
    for table in &schema.tables {
        for word in column_words(table).into_iter().collect::<BTreeSet<_>>() {
            *rarity.entry(word).or_default() += 1;
        }
    }
    rarity
}

/// The tables that foreign keys join each table with, in either direction.
fn joined(schema: &Schema) -> HashMap<TableName, BTreeSet<TableName>> {
    let mut joined: HashMap<TableName, BTreeSet<TableName>> = HashMap::new();
    for table in &schema.tables {
        for referred in table.contract.foreign_keys.iter().map(|key| key.referred()) {
            if referred != table.name {
                joined.entry(table.name.clone()).or_default().insert(referred.clone());
                joined.entry(referred).or_default().insert(table.name.clone());
            }
        }
    }
    joined
}

fn is_archived(name: &str) -> bool {
    let words = split_identifier(name);
    words.split(' ').any(|word| ARCHIVE.contains(&format!(" {word} ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::schema;

    #[test]
    fn a_line_describes_a_table() {
        assert_eq!(
            render(&schema(), 1000),
            "shop.customers | 2c | email | -> shop.orders\n\
             shop.orders | 3c | 7 rows | customer state | -> other.t, shop.customers"
        );
    }

    #[test]
    fn no_name_makes_a_line_of_its_own() {
        let mut schema = schema();
        schema.tables[0].name.name = "a\nfake | 9c".into();
        assert_eq!(render(&schema, 1000).lines().count(), 2);
    }

    #[test]
    fn the_budget_drops_archives_then_the_smallest() {
        let mut schema = schema();
        let mut archive = schema.tables[1].clone();
        archive.name.name = "orders_archive".into();
        archive.metadata.row_count = Some(9_000_000);
        schema.tables.push(archive);
        let names = |budget: usize| -> Vec<String> {
            render(&schema, budget).lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(names(1000), ["shop.customers", "shop.orders", "shop.orders_archive"]);
        assert_eq!(names(38), ["shop.customers", "shop.orders"]);
        assert_eq!(names(20), ["shop.orders"]);
        assert_eq!(names(1), [""; 0]);
    }

    #[test]
    fn counts_are_short() {
        for (rows, shown) in
            [(0, "0"), (999, "999"), (1000, "1K"), (14_320, "14.3K"), (2_000_000, "2M"), (7_500_000_000, "7.5G")]
        {
            assert_eq!(short(rows), shown);
        }
    }
}

//! The texts of chunks. The formats were chosen by measurement on public schemas and questions: see "Chunks" in
//! docs/searching.md. Names are split into words, and occur once as SQL writes them, in a relation key. What matters
//! most comes first, because the model reads 256 tokens.

use crate::catalog::identifier::quote_identifier;
use crate::catalog::identifier_words::split_identifier;
use crate::catalog::schema::{
    Cardinality, ColumnContract, ColumnMetadata, ForeignKeyContract, ForeignKeyMetadata, Table,
};
use crate::chunk::datasource_info::DatasourceInfo;
use serde_json::Value;

/// Values in a text, at most: the model reads 256 tokens.
const MOST_VALUES: usize = 20;

/// The description, then the name unless the description contains it. A name in front would attract every question
/// that uses the same common word (`support`).
pub(crate) fn datasource_text(about: &DatasourceInfo) -> String {
    let name = name_in_words(&about.name);
    let mut text = match present(about.description.as_deref()) {
        None => name,
        Some(description) => {
            let lower = description.to_lowercase();
            if lower.contains(&name) || lower.contains(&about.name.to_lowercase()) {
                description.to_owned()
            } else {
                format!("{} ({})", sentence(description), about.name)
            }
        }
    };
    let domains: Vec<&str> =
        about.domains.iter().map(|domain| domain.trim()).filter(|domain| !domain.is_empty()).collect();
    if !domains.is_empty() {
        text = format!("{} Domains: {}.", sentence(&text), domains.join(", "));
    }
    text
}

/// `Table invoice line (chinook."InvoiceLine"). Each invoice line has invoice id, quantity. Primary
/// key: invoice line id.`
pub(crate) fn table_text(table: &Table) -> String {
    let words = name_in_words(&table.name.name);
    let kind = table.contract.kind.words();
    let mut text = format!("{}{} {words} ({}).", kind[..1].to_uppercase(), &kind[1..], table.name);
    if let Some(description) = present(table.metadata.description.as_deref()) {
        text = format!("{text} {}", sentence(description));
    }
    let columns: Vec<&str> = table.contract.columns.iter().map(|column| column.name.as_str()).collect();
    if !columns.is_empty() {
        text = format!("{text} Each {words} has {}.", in_words(&columns, ", "));
    }
    if !table.contract.primary_key.is_empty() {
        text = format!("{text} Primary key: {}.", in_words(&table.contract.primary_key, ", "));
    }
    text
}

/// `quantity of invoice line (chinook."InvoiceLine"."Quantity", integer). How many were sold. From 1 to 9.`
pub(crate) fn column_text(
    table: &Table,
    column: &ColumnContract,
    metadata: &ColumnMetadata,
    quote_values: bool,
) -> String {
    let mut text = format!(
        "{} of {} ({}.{}, {}).",
        name_in_words(&column.name),
        name_in_words(&table.name.name),
        table.name,
        quote_identifier(&column.name),
        type_in_words(&column.data_type),
    );
    if let Some(description) = present(metadata.description.as_deref()) {
        text = format!("{text} {}", sentence(description));
    }
    if !metadata.synonyms.is_empty() {
        text = format!("{text} Also: {}.", metadata.synonyms.join(", "));
    }
    if let (Some(min), Some(max)) = (statistic(metadata, "min"), statistic(metadata, "max"))
        && table.measures(column)
    {
        text = format!("{text} From {min} to {max}.");
    }
    if let (true, Some(Value::Array(values))) = (quote_values, metadata.statistics.get("values")) {
        let values: Vec<&str> = values.iter().filter_map(Value::as_str).take(MOST_VALUES).collect();
        text = format!("{text} Values: {}.", values.join(", "));
    }
    text
}

fn statistic<'a>(metadata: &'a ColumnMetadata, name: &str) -> Option<&'a str> {
    metadata.statistics.get(name).and_then(Value::as_str)
}

/// `Each invoice line refers to one invoice by invoice id = invoice invoice id. One invoice, many
/// invoice line.`
pub(crate) fn relationship_text(table: &Table, key: &ForeignKeyContract, metadata: &ForeignKeyMetadata) -> String {
    let (from, to) = (name_in_words(&table.name.name), name_in_words(&key.referred_table));
    let pairs: Vec<String> = key
        .columns
        .iter()
        .zip(&key.referred_columns)
        .map(|(column, referred)| format!("{} = {to} {}", name_in_words(column), name_in_words(referred)))
        .collect();
    let many = match metadata.cardinality {
        Cardinality::ManyToOne => "many",
        Cardinality::OneToOne => "one",
    };
    format!("Each {from} refers to one {to} by {}. One {to}, {many} {from}.", pairs.join(" and "))
}

fn name_in_words(name: &str) -> String {
    let words = split_identifier(name);
    if words.is_empty() { name.to_owned() } else { words }
}

fn in_words(names: &[impl AsRef<str>], between: &str) -> String {
    names.iter().map(|name| name_in_words(name.as_ref())).collect::<Vec<_>>().join(between)
}

/// A type without its length or precision, which questions do not mention.
fn type_in_words(data_type: &str) -> String {
    match (data_type.find('('), data_type.rfind(')')) {
        (Some(open), Some(close)) if open < close => {
            format!("{}{}", data_type[..open].trim_end(), &data_type[close + 1..])
        }
        _ => data_type.to_owned(),
    }
}

/// Adds a period unless the text ends with punctuation.
pub(crate) fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', ')']) { text.to_owned() } else { format!("{text}.") }
}

fn present(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_the_description_contains_is_not_repeated() {
        let about = |name: &str, description: Option<&str>| DatasourceInfo {
            name: name.into(),
            description: description.map(str::to_owned),
            ..DatasourceInfo::default()
        };
        let text = |name, description| datasource_text(&about(name, description));
        assert_eq!(text("chinook", Some("The Chinook music store")), "The Chinook music store");
        assert_eq!(text("help_desk", Some("Our help desk")), "Our help desk");
        assert_eq!(text("erp", Some("Everything.")), "Everything. (erp)");
        assert_eq!(text("sales_in_weather", None), "sales in weather");
        assert_eq!(text("erp", Some("  ")), "erp");
    }

    #[test]
    fn types_lose_their_lengths() {
        assert_eq!(type_in_words("character varying(160)"), "character varying");
        assert_eq!(type_in_words("timestamp(3) without time zone"), "timestamp without time zone");
        assert_eq!(type_in_words("numeric(10,2)[]"), "numeric[]");
        assert_eq!(type_in_words("text"), "text");
    }
}

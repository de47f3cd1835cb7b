//! Definitions for a model's prompt: one compact JSON object a table, without empty values.

use crate::catalog::identifier::TableName;
use crate::catalog::schema::{ColumnContract, ColumnMetadata, Table};
use serde_json::{Value, json};

/// A retrieved table.
pub struct PromptTable<'a> {
    /// The table in the snapshot, which knows which columns are keys.
    pub table: &'a Table,
    /// The part to show, from `column_selection::definition`.
    pub definition: &'a Value,
    pub preferred: bool,
}

/// Renders one line a table, preferred tables first, then by name.
pub fn render(mut shown: Vec<PromptTable>) -> String {
    shown.sort_by(|a, b| b.preferred.cmp(&a.preferred).then_with(|| a.table.name.cmp(&b.table.name)));
    shown.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Renders a term that the question uses, from its entry's metadata.
pub fn term(metadata: &Value) -> String {
    fields(metadata, &["term", "definition", "synonyms", "tables"])
}

/// Renders a metric that the question uses: `{"metric":…,"description":…,"expression":…,"table":…}`.
pub fn metric(metadata: &Value) -> String {
    let name = non_empty_json(&metadata["name"]).map_or_else(String::new, |name| format!("\"metric\":{name},"));
    fields(metadata, &["description", "expression", "table"]).replacen('{', &format!("{{{name}"), 1)
}

fn fields(metadata: &Value, names: &[&str]) -> String {
    object(&names.iter().map(|name| (*name, non_empty_json(&metadata[*name]))).collect::<Vec<_>>())
}

fn line(shown: &PromptTable) -> String {
    let definition = shown.definition;
    let of = |name: &str| shown.table.columns().find(|(column, _)| column.name == name);
    let columns = definition["columns"].as_array().into_iter().flatten();
    let columns: Vec<String> = columns
        .filter_map(|column| {
            let (contract, metadata) = of(column["name"].as_str()?)?;
            Some(render_column(shown.table, contract, metadata, &column["matched_value"]))
        })
        .collect();
    let keys = definition["foreign_keys"].as_array().into_iter().flatten().map(|key| {
        let referred = |part: &str| key[part].as_str().unwrap_or_default().to_owned();
        let referred = TableName::new(referred("referred_schema"), referred("referred_table"));
        object(&[
            ("columns", non_empty_json(&key["columns"])),
            ("references", non_empty_json(&json!(referred.to_string()))),
            ("referred_columns", non_empty_json(&key["referred_columns"])),
        ])
    });
    let kind = shown.table.contract.kind.words();
    object(&[
        ("table", non_empty_json(&json!(shown.table.name.to_string()))),
        ("kind", non_empty_json(&json!(kind)).filter(|_| kind != "table")),
        ("preferred", shown.preferred.then(|| "true".to_owned())),
        ("description", non_empty_json(&definition["description"])),
        ("rows", non_empty_json(&definition["row_count"])),
        ("primary_key", non_empty_json(&definition["primary_key"])),
        ("columns", list(columns)),
        ("foreign_keys", list(keys.collect())),
        ("other_columns", non_empty_json(&definition["other_columns"])),
    ])
}

fn render_column(table: &Table, column: &ColumnContract, metadata: &ColumnMetadata, matched: &Value) -> String {
    let known = |name: &str| metadata.statistics.get(name).unwrap_or(&Value::Null);
    let range = match (known("min"), known("max")) {
        (Value::Null, _) | (_, Value::Null) => None,
        (min, max) if table.measures(column) => non_empty_json(&json!([min, max])),
        _ => None,
    };
    object(&[
        ("name", non_empty_json(&json!(column.name))),
        ("type", non_empty_json(&json!(column.data_type))),
        ("description", non_empty_json(&json!(metadata.description))),
        ("synonyms", non_empty_json(&json!(metadata.synonyms))),
        ("pii", metadata.pii.then(|| "true".to_owned())),
        ("range", range),
        ("sample_values", non_empty_json(known("values"))),
        ("matched_value", non_empty_json(matched)),
    ])
}

/// A value as JSON; `None` for an empty one.
fn non_empty_json(value: &Value) -> Option<String> {
    let empty = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    (!empty).then(|| value.to_string())
}

fn list(items: Vec<String>) -> Option<String> {
    (!items.is_empty()).then(|| format!("[{}]", items.join(",")))
}

/// A JSON object with its fields in this order, which serde_json would sort: a reader expects the name first.
fn object(fields: &[(&str, Option<String>)]) -> String {
    let fields = fields.iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value.as_deref()?)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::schema;
    use crate::snapshot::render::render_table;

    #[test]
    fn terms_and_metrics_are_lines_of_their_own() {
        let line =
            term(&json!({"id": "x", "term": "churn", "definition": "who left", "synonyms": [], "tables": ["s.t"]}));
        assert_eq!(line, r#"{"term":"churn","definition":"who left","tables":["s.t"]}"#);
        let line = metric(&json!({"id": "x", "name": "revenue", "expression": "sum({x})", "table": "s.t"}));
        assert_eq!(line, r#"{"metric":"revenue","expression":"sum({x})","table":"s.t"}"#);
    }

    #[test]
    fn a_line_a_table_preferred_first() {
        let mut schema = schema();
        let statistics = &mut schema.tables[1].metadata.columns[0].statistics;
        statistics.extend([("min".to_owned(), json!("1")), ("max".to_owned(), json!("9"))]);
        let definitions: Vec<Value> = schema.tables.iter().map(render_table).collect();
        let shown = schema.tables.iter().zip(&definitions).map(|(table, definition)| PromptTable {
            table,
            definition,
            preferred: table.name.name == "orders",
        });
        let text = render(shown.collect());
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["table"], "shop.orders");
        assert_eq!(
            lines[0]["columns"][2],
            json!({"name": "state", "type": "shop.state", "sample_values": ["open", "closed"]})
        );
        assert_eq!(lines[0]["columns"][0], json!({"name": "id", "type": "integer"}), "a key has no range");
        assert_eq!(lines[0]["rows"], 7);
        assert_eq!(lines[1]["table"], "shop.customers");
        assert!(lines[1].get("description").is_none() && lines[1].get("foreign_keys").is_none());
        assert_eq!(lines[1]["columns"][1]["pii"], true);
    }
}

//! Definitions as a model's prompt wants them: one compact JSON object a table, empty values left out.

use crate::name::TableName;
use crate::schema::{ColumnContract, ColumnMetadata, Table};
use serde_json::{Map, Value, json};

/// A definition that was retrieved.
pub struct Shown<'a> {
    /// The table, whose snapshot says which columns are keys.
    pub table: &'a Table,
    /// What of it is shown: as `select::definition` makes it.
    pub definition: &'a Value,
    pub preferred: bool,
}

/// The lines, preferred tables first, then by name.
pub fn render(mut shown: Vec<Shown>) -> String {
    shown.sort_by(|a, b| b.preferred.cmp(&a.preferred).then_with(|| a.table.name.cmp(&b.table.name)));
    let lines: Vec<String> = shown.iter().map(|one| line(one).to_string()).collect();
    lines.join("\n")
}

fn line(shown: &Shown) -> Value {
    let definition = shown.definition;
    let of = |name: &str| shown.table.columns().find(|(column, _)| column.name == name);
    let columns = definition["columns"].as_array().into_iter().flatten();
    let columns: Vec<Value> = columns
        .filter_map(|column| {
            let (contract, metadata) = of(column["name"].as_str()?)?;
            Some(render_column(shown.table, contract, metadata, &column["matched_value"]))
        })
        .collect();
    let keys = definition["foreign_keys"].as_array().into_iter().flatten().map(|key| {
        let referred = |part: &str| key[part].as_str().unwrap_or_default().to_owned();
        json!({
            "columns": key["columns"],
            "references": TableName::new(referred("referred_schema"), referred("referred_table")).to_string(),
            "referred_columns": key["referred_columns"],
        })
    });
    compact([
        ("table", json!(shown.table.name.to_string())),
        ("kind", json!(shown.table.contract.kind.words()).take_unless("table")),
        ("preferred", if shown.preferred { json!(true) } else { Value::Null }),
        ("description", definition["description"].clone()),
        ("rows", definition["row_count"].clone()),
        ("primary_key", definition["primary_key"].clone()),
        ("columns", json!(columns)),
        ("foreign_keys", keys.collect()),
        ("other_columns", definition["other_columns"].clone()),
    ])
}

fn render_column(table: &Table, column: &ColumnContract, metadata: &ColumnMetadata, matched: &Value) -> Value {
    let known = |name: &str| metadata.statistics.get(name).cloned().unwrap_or(Value::Null);
    let range = match (known("min"), known("max")) {
        (Value::Null, _) | (_, Value::Null) => Value::Null,
        (min, max) if table.measures(column) => json!([min, max]),
        _ => Value::Null,
    };
    compact([
        ("name", json!(column.name)),
        ("type", json!(column.data_type)),
        ("description", json!(metadata.description)),
        ("synonyms", json!(metadata.synonyms)),
        ("pii", if metadata.pii { json!(true) } else { Value::Null }),
        ("range", range),
        ("sample_values", known("values")),
        ("matched_value", matched.clone()),
    ])
}

trait TakeUnless {
    fn take_unless(self, usual: &str) -> Value;
}

impl TakeUnless for Value {
    /// The usual is not worth saying.
    fn take_unless(self, usual: &str) -> Value {
        if self == usual { Value::Null } else { self }
    }
}

fn compact<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let said = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    let fields = fields.into_iter().filter(|(_, value)| said(value));
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::render_table;
    use crate::reflect::tests::schema;

    #[test]
    fn a_line_a_table_preferred_first() {
        let mut schema = schema();
        let statistics = &mut schema.tables[1].metadata.columns[0].statistics;
        statistics.extend([("min".to_owned(), json!("1")), ("max".to_owned(), json!("9"))]);
        let definitions: Vec<Value> = schema.tables.iter().map(render_table).collect();
        let shown = schema.tables.iter().zip(&definitions).map(|(table, definition)| Shown {
            table,
            definition,
            preferred: table.name.name == "orders",
        });
        let text = render(shown.collect());
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["table"], "shop.orders");
        assert_eq!(lines[0]["columns"][2], json!({"name": "state", "type": "shop.state", "sample_values": ["open", "closed"]}));
        assert_eq!(lines[0]["columns"][0], json!({"name": "id", "type": "integer"}), "a key has no range");
        assert_eq!(lines[0]["rows"], 7);
        assert_eq!(lines[1]["table"], "shop.customers");
        assert!(lines[1].get("description").is_none() && lines[1].get("foreign_keys").is_none());
        assert_eq!(lines[1]["columns"][1]["pii"], true);
    }
}

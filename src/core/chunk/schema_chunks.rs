//! The chunks of a schema: datasource, sample questions, tables, columns and relationships.

use crate::catalog::identifier::quote_identifier;
use crate::catalog::identifier_words::split_identifier;
use crate::catalog::schema::{ColumnContract, ColumnMetadata, ForeignKeyContract, ForeignKeyMetadata, Schema, Table};
use crate::chunk::chunk_type::ChunkType;
use crate::chunk::cutter::{Chunk, Cutter, SearchDocument};
use crate::chunk::datasource_info::DatasourceInfo;
use crate::chunk::schema_text::{column_text, datasource_text, relationship_text, table_text};
use crate::chunk::visible_if::VisibleIf;
use crate::snapshot::fingerprint::sha256_hex;
use serde_json::{Value, json};
use std::collections::HashSet;

/// All chunks of a snapshot, in a fixed order.
pub fn chunks(about: &DatasourceInfo, schema_version: &str, schema: &Schema) -> Vec<Chunk> {
    let cutter = Cutter { datasource: &about.name, schema_version, quote_values: about.quote_values };
    let mut chunks = vec![cutter.datasource(about)];
    let mut asked = HashSet::new();
    for question in about.sample_questions.iter().map(|question| question.trim()) {
        if !question.is_empty() && asked.insert(question) {
            chunks.push(cutter.example(question));
        }
    }
    for table in &schema.tables {
        chunks.push(cutter.table(table));
        let columns = (1..).zip(table.columns());
        chunks.extend(columns.map(|(place, (column, metadata))| cutter.column(table, place, column, metadata)));
        chunks.extend(table.foreign_keys().map(|(key, metadata)| cutter.relationship(table, key, metadata)));
    }
    chunks
}

impl Cutter<'_> {
    fn datasource(&self, about: &DatasourceInfo) -> Chunk {
        let fields = json!({ "description": about.description, "domains": about.domains });
        let mut chunk = self.chunk(ChunkType::Datasource, None, datasource_text(about), fields, VisibleIf::Datasource);
        let domains = about.domains.join(". ");
        let words = [&split_identifier(&about.name), about.description.as_deref().unwrap_or(""), &domains];
        chunk.document = SearchDocument::of(0, &words);
        chunk
    }

    fn example(&self, question: &str) -> Chunk {
        let hash = &sha256_hex(question)[..12];
        let text = question.to_owned();
        let mut chunk = self.chunk(ChunkType::DatasourceExample, Some(hash), text, Value::Null, VisibleIf::Datasource);
        chunk.document = SearchDocument::of(0, &[question]);
        chunk
    }

    fn table(&self, table: &Table) -> Chunk {
        let key = table.name.to_string();
        let columns: Vec<&str> = table.contract.columns.iter().map(|column| column.name.as_str()).collect();
        // A search adds the foreign keys when it returns the entry, from the relationships that the caller may see.
        let fields = json!({
            "table": key,
            "description": table.metadata.description,
            "primary_key": table.contract.primary_key,
            "columns": columns,
            "row_count": table.metadata.row_count,
        });
        let names = table.contract.columns.iter().map(|column| column.name.clone()).collect();
        let reads = VisibleIf::Columns(table.name.clone(), names);
        let mut chunk = self.chunk(ChunkType::Table, Some(&key), table_text(table), fields, reads);
        let description = table.metadata.description.as_deref().unwrap_or("");
        chunk.document = SearchDocument::of(0, &[&split_identifier(&table.name.name), description]);
        chunk
    }

    fn column(&self, table: &Table, number: usize, column: &ColumnContract, metadata: &ColumnMetadata) -> Chunk {
        let key = table.name.to_string();
        let mut fields = json!({
            "table": key,
            "column": column.name,
            "dtype": column.data_type,
            "pii": metadata.pii.then_some(true),
            "description": metadata.description,
        });
        for (name, value) in &metadata.statistics {
            fields[name] = value.clone();
        }
        let place = format!("{key}.{}", quote_identifier(&column.name));
        let reads = VisibleIf::Columns(table.name.clone(), vec![column.name.clone()]);
        let text = column_text(table, column, metadata, self.quote_values);
        let mut chunk = self.chunk(ChunkType::Column, Some(&place), text, fields, reads);
        let synonyms = metadata.synonyms.join(". ");
        let words = [&split_identifier(&column.name), metadata.description.as_deref().unwrap_or(""), &synonyms];
        chunk.document = SearchDocument::of(number, &words)
            .map(|document| SearchDocument { values: known_values(metadata), ..document });
        chunk
    }

    fn relationship(&self, table: &Table, key: &ForeignKeyContract, metadata: &ForeignKeyMetadata) -> Chunk {
        let (from, to) = (table.name.to_string(), key.referred().to_string());
        let fields = json!({
            "from_table": from,
            "to_table": to,
            "from_columns": key.columns,
            "to_columns": key.referred_columns,
            "cardinality": metadata.cardinality,
            "constraint": key.name,
        });
        let place = format!("{from}.{}", quote_identifier(&key.name));
        let reads = VisibleIf::Relationship(
            table.name.clone(),
            key.columns.clone(),
            key.referred(),
            key.referred_columns.clone(),
        );
        self.chunk(ChunkType::Relationship, Some(&place), relationship_text(table, key, metadata), fields, reads)
    }
}

fn known_values(metadata: &ColumnMetadata) -> Vec<String> {
    let values = metadata.statistics.get("values").and_then(Value::as_array);
    values.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::schema;

    fn about() -> DatasourceInfo {
        DatasourceInfo {
            name: "shop".into(),
            description: Some("What is sold".into()),
            domains: vec!["retail".into()],
            sample_questions: vec!["Who buys?".into(), " ".into(), "Who buys? ".into(), "How much?".into()],
            quote_values: false,
        }
    }

    #[test]
    fn cuts_every_type() {
        let chunks = chunks(&about(), "v1", &schema());
        let count = |chunk_type| chunks.iter().filter(|chunk| chunk.chunk_type == chunk_type).count();
        assert_eq!(count(ChunkType::Datasource), 1);
        assert_eq!(count(ChunkType::DatasourceExample), 2, "blank and repeated questions are skipped");
        assert_eq!(count(ChunkType::Table), 2);
        assert_eq!(count(ChunkType::Column), 5);
        assert_eq!(count(ChunkType::Relationship), 2);
    }

    #[test]
    fn ids_are_unique_and_name_the_version() {
        let mut schema = schema();
        let mut twin = schema.tables[1].contract.foreign_keys[1].clone();
        twin.name = "orders_customer_2".into();
        schema.tables[1].contract.foreign_keys.push(twin);
        let metadata = schema.tables[1].metadata.foreign_keys[1];
        schema.tables[1].metadata.foreign_keys.push(metadata);
        let chunks = chunks(&about(), "v1", &schema);
        let ids: HashSet<&str> = chunks.iter().map(|chunk| chunk.id.as_str()).collect();
        assert_eq!(ids.len(), chunks.len());
        assert!(ids.contains("schema.column:shop:v1:shop.orders.\"customerId\""));
        assert!(ids.contains("schema.relationship:shop:v1:shop.orders.orders_customer_2"));
        assert!(ids.contains("schema.datasource:shop:v1"));
        let hash = &sha256_hex("Who buys?")[..12];
        assert!(ids.contains(format!("schema.datasource_example:shop:v1:{hash}").as_str()));
    }

    #[test]
    fn metadata_leaves_out_what_is_empty() {
        let chunks = chunks(&about(), "v1", &schema());
        let of = |id: &str| &chunks.iter().find(|chunk| chunk.id == id).unwrap().metadata;
        let customers = of("schema.table:shop:v1:shop.customers");
        assert!(!customers.contains_key("row_count"));
        assert_eq!(customers["columns"], json!(["id", "email"]));
        assert!(!customers.contains_key("foreign_keys"), "they are the caller's, not the entry's");
        let state = of("schema.column:shop:v1:shop.orders.state");
        assert_eq!(state["values"], json!(["open", "closed"]));
        assert!(!state.contains_key("description"));
        let key = of("schema.relationship:shop:v1:shop.orders.orders_customer");
        assert_eq!(key["cardinality"], "many_to_one");
        assert_eq!(key["from_columns"], json!(["customerId"]));
    }

    #[test]
    fn values_are_in_the_text_only_where_they_may_be() {
        for chunk in chunks(&about(), "v1", &schema()) {
            assert!(!chunk.text.contains("closed"), "{}", chunk.text);
        }
        let about = DatasourceInfo { quote_values: true, ..about() };
        let quoting: Vec<String> = chunks(&about, "v1", &schema())
            .into_iter()
            .map(|chunk| chunk.text)
            .filter(|text| text.contains("closed"))
            .collect();
        assert_eq!(quoting, ["state of orders (shop.orders.state, shop.state). Values: open, closed."]);
    }

    #[test]
    fn the_range_of_what_is_measured_is_in_the_text() {
        let mut schema = schema();
        for (place, data_type) in [(0, "integer"), (1, "integer"), (2, "numeric(10,2)")] {
            schema.tables[1].contract.columns[place].data_type = data_type.into();
            let statistics = &mut schema.tables[1].metadata.columns[place].statistics;
            statistics.clear();
            statistics.extend([("min".to_owned(), json!("1.5")), ("max".to_owned(), json!("9"))]);
        }
        let texts: Vec<String> = chunks(&about(), "v1", &schema).into_iter().map(|chunk| chunk.text).collect();
        let ranged: Vec<&String> = texts.iter().filter(|text| text.contains("1.5")).collect();
        assert_eq!(ranged, ["state of orders (shop.orders.state, numeric). From 1.5 to 9."], "keys are not measured");
    }

    #[test]
    fn texts_read_like_sentences() {
        let chunks = chunks(&about(), "v1", &schema());
        let text = |id: &str| chunks.iter().find(|chunk| chunk.id == id).unwrap().text.as_str();
        assert_eq!(text("schema.datasource:shop:v1"), "What is sold. (shop) Domains: retail.");
        assert_eq!(
            text("schema.table:shop:v1:shop.orders"),
            "Table orders (shop.orders). What was bought. Each orders has id, customer id, state. Primary key: id."
        );
        assert_eq!(
            text("schema.column:shop:v1:shop.orders.\"customerId\""),
            "customer id of orders (shop.orders.\"customerId\", integer)."
        );
        assert_eq!(
            text("schema.column:shop:v1:shop.customers.email"),
            "email of customers (shop.customers.email, text). Where to write."
        );
        assert_eq!(
            text("schema.relationship:shop:v1:shop.orders.orders_customer"),
            "Each orders refers to one customers by customer id = customers id. One customers, many orders."
        );
    }

    #[test]
    fn documents_hold_words_and_values() {
        let chunks = chunks(&about(), "v1", &schema());
        let of = |id: &str| chunks.iter().find(|chunk| chunk.id == id).unwrap().document.clone();
        let state = of("schema.column:shop:v1:shop.orders.state").unwrap();
        assert_eq!((state.place, state.values), (3, vec!["open".to_owned(), "closed".to_owned()]));
        assert_eq!(of("schema.column:shop:v1:shop.orders.\"customerId\"").unwrap().words, "customer id");
        assert_eq!(of("schema.table:shop:v1:shop.orders").unwrap().words, "orders. What was bought");
        assert_eq!(of("schema.relationship:shop:v1:shop.orders.far"), None);
    }
}

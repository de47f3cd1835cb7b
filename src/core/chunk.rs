//! Chunks: the typed texts that a schema is cut into, each with a deterministic id.

use crate::fingerprint::sha256_hex;
use crate::name::{TableName, quote_identifier};
use crate::schema::{Cardinality, ColumnContract, ColumnMetadata, ForeignKeyContract, ForeignKeyMetadata, Schema, Table};
use crate::words::split_identifier;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChunkType {
    Datasource,
    DatasourceExample,
    Table,
    Column,
    Relationship,
    Metric,
    VerifiedQuery,
}

impl ChunkType {
    pub const ALL: [ChunkType; 7] = [
        ChunkType::Datasource,
        ChunkType::DatasourceExample,
        ChunkType::Table,
        ChunkType::Column,
        ChunkType::Relationship,
        ChunkType::Metric,
        ChunkType::VerifiedQuery,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ChunkType::Datasource => "schema.datasource",
            ChunkType::DatasourceExample => "schema.datasource_example",
            ChunkType::Table => "schema.table",
            ChunkType::Column => "schema.column",
            ChunkType::Relationship => "schema.relationship",
            ChunkType::Metric => "schema.metric",
            ChunkType::VerifiedQuery => "curated.verified_query",
        }
    }

    pub fn from_name(name: &str) -> Option<ChunkType> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// What a datasource says of itself when it is registered.
#[derive(Debug, Clone, Default)]
pub struct About {
    pub name: String,
    pub description: Option<String>,
    pub domains: Vec<String>,
    pub sample_questions: Vec<String>,
}

/// What a role must be able to read for an entry to exist for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reads {
    /// Any table or column of the datasource.
    Datasource,
    /// The table as such, or each of these columns of it. A table's own entry names every column.
    Columns(TableName, Vec<String>),
    /// The key columns at both ends of a relationship.
    Relationship(TableName, Vec<String>, TableName, Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    pub id: String,
    pub chunk_type: ChunkType,
    pub text: String,
    pub metadata: Map<String, Value>,
    pub reads: Reads,
}

/// All chunks of a snapshot, in a fixed order.
pub fn chunks(about: &About, schema_version: &str, schema: &Schema) -> Vec<Chunk> {
    let cutter = Cutter { datasource: &about.name, schema_version };
    let mut chunks = vec![cutter.datasource(about)];
    let mut asked = HashSet::new();
    for question in about.sample_questions.iter().map(|question| question.trim()) {
        if !question.is_empty() && asked.insert(question) {
            chunks.push(cutter.example(question));
        }
    }
    for table in &schema.tables {
        chunks.push(cutter.table(table));
        chunks.extend(table.columns().map(|(column, metadata)| cutter.column(table, column, metadata)));
        chunks.extend(table.foreign_keys().map(|(key, metadata)| cutter.relationship(table, key, metadata)));
    }
    chunks
}

struct Cutter<'a> {
    datasource: &'a str,
    schema_version: &'a str,
}

impl Cutter<'_> {
    /// `type:datasource:schema_version[:place]`. Names are quoted as SQL quotes them, so that no two
    /// different ones run together.
    fn chunk(
        &self,
        chunk_type: ChunkType,
        place: Option<&str>,
        text: String,
        fields: Value,
        reads: Reads,
    ) -> Chunk {
        let mut id =
            format!("{}:{}:{}", chunk_type.name(), quote_identifier(self.datasource), self.schema_version);
        if let Some(place) = place {
            id.push(':');
            id.push_str(place);
        }
        let mut metadata = Map::new();
        metadata.insert("id".into(), id.clone().into());
        metadata.insert("type".into(), chunk_type.name().into());
        metadata.insert("datasource".into(), self.datasource.into());
        metadata.insert("schema_version".into(), self.schema_version.into());
        if let Value::Object(fields) = fields {
            metadata.extend(fields.into_iter().filter(|(_, value)| !is_empty(value)));
        }
        Chunk { id, chunk_type, text, metadata, reads }
    }

    fn datasource(&self, about: &About) -> Chunk {
        let fields = json!({ "description": about.description, "domains": about.domains });
        self.chunk(ChunkType::Datasource, None, datasource_text(about), fields, Reads::Datasource)
    }

    fn example(&self, question: &str) -> Chunk {
        let hash = &sha256_hex(question)[..12];
        self.chunk(
            ChunkType::DatasourceExample,
            Some(hash),
            question.to_owned(),
            Value::Null,
            Reads::Datasource,
        )
    }

    fn table(&self, table: &Table) -> Chunk {
        let key = table.name.to_string();
        let columns: Vec<&str> = table.contract.columns.iter().map(|column| column.name.as_str()).collect();
        // The foreign keys of the contract's metadata are put in when a search returns the entry,
        // from the relationships that the caller may see.
        let fields = json!({
            "table": key,
            "primary_key": table.contract.primary_key,
            "columns": columns,
            "row_count": table.metadata.row_count,
        });
        let names = table.contract.columns.iter().map(|column| column.name.clone()).collect();
        let reads = Reads::Columns(table.name.clone(), names);
        self.chunk(ChunkType::Table, Some(&key), table_text(table), fields, reads)
    }

    fn column(&self, table: &Table, column: &ColumnContract, metadata: &ColumnMetadata) -> Chunk {
        let key = table.name.to_string();
        let mut fields = json!({
            "table": key,
            "column": column.name,
            "dtype": column.data_type,
            "description": metadata.description,
        });
        for (name, value) in &metadata.statistics {
            fields[name] = value.clone();
        }
        let place = format!("{key}.{}", quote_identifier(&column.name));
        let reads = Reads::Columns(table.name.clone(), vec![column.name.clone()]);
        self.chunk(ChunkType::Column, Some(&place), column_text(table, column, metadata), fields, reads)
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
        let reads = Reads::Relationship(
            table.name.clone(),
            key.columns.clone(),
            key.referred(),
            key.referred_columns.clone(),
        );
        self.chunk(ChunkType::Relationship, Some(&place), relationship_text(table, key, metadata), fields, reads)
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

// The texts were chosen by measurement on public schemas and questions: see "Chunk texts" in the
// README. Names come in words, and once as SQL writes them, in a relation key. What a long table must
// not lose comes first, since the model reads 256 tokens.

/// Description, then the name where the description does not say it already: a name in front draws
/// every question that uses the same common word (`support`).
fn datasource_text(about: &About) -> String {
    let name = name_in_words(&about.name);
    let mut text = match present(about.description.as_deref()) {
        None => name,
        Some(description) => {
            let said = description.to_lowercase();
            if said.contains(&name) || said.contains(&about.name.to_lowercase()) {
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
fn table_text(table: &Table) -> String {
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

/// `quantity of invoice line (chinook."InvoiceLine"."Quantity", integer). How many were sold.`
fn column_text(table: &Table, column: &ColumnContract, metadata: &ColumnMetadata) -> String {
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
    text
}

/// `Each invoice line refers to one invoice by invoice id = invoice invoice id. One invoice, many
/// invoice line.`
fn relationship_text(table: &Table, key: &ForeignKeyContract, metadata: &ForeignKeyMetadata) -> String {
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

/// A type without its length or precision, which no question asks for.
fn type_in_words(data_type: &str) -> String {
    match (data_type.find('('), data_type.rfind(')')) {
        (Some(open), Some(close)) if open < close => {
            format!("{}{}", data_type[..open].trim_end(), &data_type[close + 1..])
        }
        _ => data_type.to_owned(),
    }
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', ')']) { text.to_owned() } else { format!("{text}.") }
}

fn present(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflect::tests::schema;

    fn about() -> About {
        About {
            name: "shop".into(),
            description: Some("What is sold".into()),
            domains: vec!["retail".into()],
            sample_questions: vec!["Who buys?".into(), " ".into(), "Who buys? ".into(), "How much?".into()],
        }
    }

    #[test]
    fn cuts_every_type() {
        let chunks = chunks(&about(), "v1", &schema());
        let count = |wanted| chunks.iter().filter(|chunk| chunk.chunk_type == wanted).count();
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
    fn values_are_not_in_the_text() {
        for chunk in chunks(&about(), "v1", &schema()) {
            assert!(!chunk.text.contains("closed"), "{}", chunk.text);
        }
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
    fn a_name_that_the_description_says_is_not_said_twice() {
        let about = |name: &str, description: Option<&str>| About {
            name: name.into(),
            description: description.map(str::to_owned),
            ..About::default()
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

    #[test]
    fn every_type_has_one_name() {
        for chunk_type in ChunkType::ALL {
            assert_eq!(ChunkType::from_name(chunk_type.name()), Some(chunk_type));
        }
        assert_eq!(ChunkType::from_name("schema"), None);
    }
}

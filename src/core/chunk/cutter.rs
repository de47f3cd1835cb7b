//! A chunk, and the fields that all chunks of a build have in common.

use crate::catalog::identifier::quote_identifier;
use crate::chunk::chunk_type::ChunkType;
use crate::chunk::visible_if::VisibleIf;
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    pub id: String,
    pub chunk_type: ChunkType,
    pub text: String,
    pub metadata: Map<String, Value>,
    pub reads: VisibleIf,
    /// Words and values that retrieval ranks by, besides the vector of the text.
    pub document: Option<SearchDocument>,
    /// SHA-256 of the item of curated content that it is cut from.
    pub curated_hash: Option<String>,
}

/// A chunk as retrieval's lexical search sees it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchDocument {
    /// A column's position in its table, from 1; 0 for anything else.
    pub place: i16,
    /// Names split into words, comments and synonyms.
    pub words: String,
    /// Known values of a column.
    pub values: Vec<String>,
}

impl SearchDocument {
    pub(crate) fn of(place: usize, words: &[&str]) -> Option<Self> {
        let words: Vec<&str> = words.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        Some(Self { place: i16::try_from(place).ok()?, words: words.join(". "), values: Vec::new() })
    }
}

/// Cuts the chunks of one build.
pub struct Cutter<'a> {
    pub datasource: &'a str,
    pub schema_version: &'a str,
    /// Whether texts may quote values.
    pub quote_values: bool,
}

impl Cutter<'_> {
    /// Makes a chunk with the id `type:datasource:schema_version[:place]` and the metadata that all chunks have. Names
    /// in an id are quoted as SQL quotes them, so that ids are distinct.
    pub fn chunk(
        &self,
        chunk_type: ChunkType,
        place: Option<&str>,
        text: String,
        fields: Value,
        reads: VisibleIf,
    ) -> Chunk {
        let mut id = format!("{}:{}:{}", chunk_type.name(), quote_identifier(self.datasource), self.schema_version);
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
        Chunk { id, chunk_type, text, metadata, reads, document: None, curated_hash: None }
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

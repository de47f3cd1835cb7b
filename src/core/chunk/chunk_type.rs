//! The types of chunks, by what they are cut from.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChunkType {
    Datasource,
    DatasourceExample,
    Table,
    Column,
    Relationship,
    Metric,
    VerifiedQuery,
    Term,
}

impl ChunkType {
    pub const ALL: [ChunkType; 8] = [
        ChunkType::Datasource,
        ChunkType::DatasourceExample,
        ChunkType::Table,
        ChunkType::Column,
        ChunkType::Relationship,
        ChunkType::Metric,
        ChunkType::VerifiedQuery,
        ChunkType::Term,
    ];
    /// The types that are cut from curated content.
    pub const CURATED: [ChunkType; 3] = [ChunkType::Metric, ChunkType::VerifiedQuery, ChunkType::Term];

    pub fn name(self) -> &'static str {
        match self {
            ChunkType::Datasource => "schema.datasource",
            ChunkType::DatasourceExample => "schema.datasource_example",
            ChunkType::Table => "schema.table",
            ChunkType::Column => "schema.column",
            ChunkType::Relationship => "schema.relationship",
            ChunkType::Metric => "schema.metric",
            ChunkType::VerifiedQuery => "curated.verified_query",
            ChunkType::Term => "curated.term",
        }
    }

    pub fn from_name(name: &str) -> Option<ChunkType> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_one_name() {
        for chunk_type in ChunkType::ALL {
            assert_eq!(ChunkType::from_name(chunk_type.name()), Some(chunk_type));
        }
        assert_eq!(ChunkType::from_name("schema"), None);
    }
}

//! What a datasource is registered with.

/// The description that a datasource is registered with.
#[derive(Debug, Clone, Default)]
pub struct DatasourceInfo {
    pub name: String,
    pub description: Option<String>,
    pub domains: Vec<String>,
    pub sample_questions: Vec<String>,
    /// Whether texts may quote values (option `sample_values`). Metadata holds the snapshot's values in any case.
    pub quote_values: bool,
}

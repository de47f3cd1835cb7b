//! What a datasource is registered with.

/// What a datasource says of itself when it is registered.
#[derive(Debug, Clone, Default)]
pub struct DatasourceInfo {
    pub name: String,
    pub description: Option<String>,
    pub domains: Vec<String>,
    pub sample_questions: Vec<String>,
    /// Whether texts may quote values (`sample_values`); metadata holds those that the snapshot holds.
    pub quote_values: bool,
}

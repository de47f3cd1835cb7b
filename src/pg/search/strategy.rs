//! How tables are ranked.

use crate::pg::server::error::{Error, Result};
use nl2sql_core::catalog::identifier::shown;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// By the text of the table, that of its best column, and words; then by foreign keys.
    Fused,
    /// By the table's text alone.
    Dense,
    /// The same, by maximal marginal relevance.
    Mmr,
}

impl Strategy {
    const KNOWN: [(&str, Strategy); 3] =
        [("fused", Strategy::Fused), ("dense", Strategy::Dense), ("mmr", Strategy::Mmr)];

    pub fn parse(name: &str) -> Result<Self> {
        match Self::KNOWN.iter().find(|(known, _)| *known == name) {
            Some((_, strategy)) => Ok(*strategy),
            None => Err(Error::invalid(format!("unknown strategy \"{}\"", shown(name)))
                .hint(format!("Known strategies: {}.", Self::KNOWN.map(|(known, _)| known).join(", ")))),
        }
    }

    pub fn name(self) -> &'static str {
        Self::KNOWN.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

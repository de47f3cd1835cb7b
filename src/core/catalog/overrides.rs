//! Descriptions that users wrote for tables and columns. They take precedence over comments in the database.

use crate::catalog::identifier::TableName;
use crate::catalog::schema::Schema;

/// A user's description of a table, or of one of its columns.
#[derive(Debug, Clone)]
pub struct Override {
    pub table: TableName,
    pub column: Option<String>,
    pub description: Option<String>,
    pub synonyms: Vec<String>,
}

/// Replaces comments by overrides. An override of a table or column that the schema does not have is ignored.
pub fn describe(schema: &mut Schema, overrides: Vec<Override>) {
    for found in overrides {
        let Some(table) = schema.tables.iter_mut().find(|table| table.name == found.table) else { continue };
        match &found.column {
            None => table.metadata.description = found.description.or(table.metadata.description.take()),
            Some(column) => {
                let place = table.contract.columns.iter().position(|known| known.name == *column);
                if let Some(metadata) = place.and_then(|place| table.metadata.columns.get_mut(place)) {
                    metadata.description = found.description.or(metadata.description.take());
                    metadata.synonyms = found.synonyms;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::schema;

    #[test]
    fn go_before_comments() {
        let mut described = schema();
        let one = |column: Option<&str>, description: Option<&str>, synonyms: &[&str]| Override {
            table: TableName::new("shop", "customers"),
            column: column.map(str::to_owned),
            description: description.map(str::to_owned),
            synonyms: synonyms.iter().map(|word| word.to_string()).collect(),
        };
        let gone = Override { table: TableName::new("shop", "gone"), ..one(None, Some("x"), &[]) };
        describe(
            &mut described,
            vec![
                one(None, Some("Who buys"), &[]),
                one(Some("email"), None, &["mail"]),
                one(Some("gone"), None, &[]),
                gone,
            ],
        );
        let customers = &described.tables[0].metadata;
        assert_eq!(customers.description.as_deref(), Some("Who buys"));
        assert_eq!(customers.columns[1].description.as_deref(), Some("Where to write"), "the comment stays");
        assert_eq!(customers.columns[1].synonyms, ["mail"]);
    }
}

//! The schema as the server's catalogs describe it. One query reads each subject (tables, columns, keys, checks),
//! whatever the number of tables; `nl2sql_core::catalog` assembles the rows. No table's rows are read here.

mod read;

pub(crate) use read::{read, schemas, structure, tables};

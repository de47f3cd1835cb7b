//! Statistics of every column, from the table's rows or from what ANALYZE stored, and sample rows. Rows are read with the
//! rights of the table's owner in a restricted context, so that what a table's author wrote cannot change anything.

mod analyzed_statistics;
#[allow(unsafe_code)]
pub mod column_statistics;
pub mod lookup;
mod profile_tables;
mod sample;
#[allow(unsafe_code)]
pub mod scan;
mod table_reader;

pub(crate) use profile_tables::profile;

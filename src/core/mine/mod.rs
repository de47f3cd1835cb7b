//! Verified queries drafted from the statements that `pg_stat_statements` has counted.

pub mod ast;
pub mod comparand;
pub mod literals;
pub mod naming;
pub mod normalized_sql;
pub mod operand;
pub mod params;
pub mod repeated_expressions;
pub mod statement_shape;
pub mod suggest;

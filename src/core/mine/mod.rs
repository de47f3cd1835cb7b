//! Verified queries drafted from the statements that `pg_stat_statements` has counted.
//!
//! `suggest` is the entry. `normalized_sql` makes a counted text parseable again, `literals` finds the constants that
//! params may replace, `comparand` what each is compared with, `params` and `naming` name the result, and
//! `statement_shape` tells which statements are alike.

pub(crate) mod ast;
pub(crate) mod comparand;
pub(crate) mod literals;
pub(crate) mod naming;
pub(crate) mod normalized_sql;
pub(crate) mod operand;
pub(crate) mod params;
pub(crate) mod repeated_expressions;
pub(crate) mod statement_shape;
pub mod suggest;

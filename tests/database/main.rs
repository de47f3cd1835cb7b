//! Tests that share the server that `tests/run.sh` starts, each in a database of its own: a folder for each subject.
//!
//! Tests run at the same time on several threads. Databases and roles get distinct names from
//! `nl2sql_tests::Database`; nothing here may change the server, measure its memory or end other sessions. Tests
//! that do so own a cluster: `tests/cluster/`.

mod building;
mod catalog;
mod curated;
mod documentation;
mod function_class;
mod monitoring;
mod registering;
mod searching;
mod session;
mod sql;
mod surface;
mod visibility;

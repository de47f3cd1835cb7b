//! Health, versions and drift.

mod check;
mod diff;
mod health;
mod snapshot;
mod versions;

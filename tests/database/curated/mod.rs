//! Curated content on the demo's chinook: what `sql/demo/curated.sql` imports, and what becomes of it.

mod analysis;
mod binding;
mod build;
mod content;
mod drift;
mod meaning;
mod rights;
mod scene;
mod suggest;

//! Curated content on the demo's chinook: what `sql/demo/curated.sql` imports, and what becomes of it.

#[path = "curated/analysis.rs"]
mod analysis;
#[path = "curated/binding.rs"]
mod binding;
#[path = "curated/build.rs"]
mod build;
#[path = "curated/content.rs"]
mod content;
#[path = "curated/drift.rs"]
mod drift;
#[path = "curated/meaning.rs"]
mod meaning;
#[path = "curated/scene.rs"]
mod scene;

//! The index of a datasource. A build reads the schema, cuts it and the curated content into chunks, embeds these and
//! writes them as entries; then one pointer makes it live. `build` tells the story, and a file holds each step: `read`,
//! `cut`, `compare`, `embed`, `write`, `go_live`.

pub mod build;
mod compare;
pub mod curated_state;
mod cut;
mod document;
mod embed;
pub mod embedder;
mod entry;
mod go_live;
pub mod namespace;
mod notify;
pub mod pointer;
mod read;
pub mod run;
pub mod target;
pub mod unregister;
mod write;

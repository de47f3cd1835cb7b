//! What a build stores, and what it leaves when it does not come to its end: the replaced build stays complete until
//! the new one is committed.

mod all;
mod curated;
mod interrupt;
mod lease;
mod retention;
mod transaction;
mod unchanged;
mod write;

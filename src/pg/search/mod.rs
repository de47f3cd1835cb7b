//! Searches of the live builds, as the current user may see them.

pub mod evidence;
pub mod nearest;
pub mod rank_tables;
pub mod retrieve;
pub mod terms;

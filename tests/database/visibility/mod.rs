//! What a role may not SELECT does not exist for it.

mod paths;
mod queries;
mod roles;
mod scene;

//! What the model costs a backend, what it leaves on the machine, and what happens without it.

#[path = "backend/damage.rs"]
mod damage;
#[path = "backend/footprint.rs"]
mod footprint;
#[path = "backend/logging.rs"]
mod logging;
#[path = "backend/preload.rs"]
mod preload;
#[path = "backend/process.rs"]
mod process;
#[path = "backend/settings.rs"]
mod settings;
#[path = "backend/vectors.rs"]
mod vectors;

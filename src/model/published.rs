//! Identifies the published model, and the files that are written from it.

/// Name of the model that [`write`](crate::write()) writes.
pub const MODEL: &str = "local/all-minilm-l6-v2";
/// SHA-256 of the published `model.safetensors`.
pub const WEIGHTS_SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
/// SHA-256 of the published `tokenizer.json`.
pub const TOKENIZER_SHA256: &str = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037";
/// SHA-256 of the graph that is written, the same on every machine. A test compares it with what the code writes.
pub(crate) const GRAPH_SHA256: &str = "a4e0d6b82126d5836a13427f6663da187ccd5cd9d57ae8dd7a96f0729e8c3661";
/// SHA-256 of the weights file that is written, likewise.
pub(crate) const PANELS_SHA256: &str = "e08f287720551b4f7ad5c21ffcf6aeaeff6ec2c7d46cca9f21adf54681f2f452";

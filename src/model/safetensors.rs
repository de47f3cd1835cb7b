//! Reads the published weights from `model.safetensors`.

use std::path::{Path, PathBuf};

use ::safetensors::{Dtype, SafeTensors};

use nl2sql_embed::EmbedError;

/// A safetensors file, read as a whole: about 90 MB during setup.
pub(crate) struct Checkpoint<'a> {
    path: PathBuf,
    tensors: SafeTensors<'a>,
}

impl<'a> Checkpoint<'a> {
    /// Reads the header of `bytes`, the content of `path`.
    ///
    /// # Errors
    /// `Unexpected` when it is not a safetensors file.
    pub fn parse(path: &Path, bytes: &'a [u8]) -> Result<Self, EmbedError> {
        let tensors = SafeTensors::deserialize(bytes)
            .map_err(|error| EmbedError::unexpected(path, "a safetensors file", format!("{error}")))?;
        Ok(Checkpoint { path: path.to_owned(), tensors })
    }

    /// The values of tensor `name`, row by row.
    ///
    /// # Errors
    /// `Unexpected` unless the tensor exists and has 32-bit floats in shape `shape`.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        let expected = || format!("tensor {name} of 32-bit floats in shape {shape:?}");
        let view = self
            .tensors
            .tensor(name)
            .map_err(|error| EmbedError::unexpected(&self.path, expected(), format!("{error}")))?;
        if view.dtype() != Dtype::F32 || view.shape() != shape {
            let found = format!("{:?} in shape {:?}", view.dtype(), view.shape());
            return Err(EmbedError::unexpected(&self.path, expected(), found));
        }
        Ok(view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

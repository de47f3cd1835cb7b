//! Opens a model directory and turns texts into vectors.

use std::fs;
use std::path::{Path, PathBuf};

use crate::batch;
use crate::error::EmbedError;
use crate::malloc_trim::release_free_heap;
use crate::manifest::{Manifest, Role};
use crate::onnxruntime;
use crate::session::{LoadOptions, Model};
use crate::tokenizer::TruncatingTokenizer;

/// Most tokens of a text, when a directory without a manifest does not configure it.
const DEFAULT_MAX_TOKENS: usize = 256;
/// The highest limit that such a directory can configure.
const HIGHEST_MAX_TOKENS: usize = 512;
/// A run of up to this many tokens keeps its memory, less than half a megabyte, for the next run.
const SHORT_RUN_TOKENS: usize = 64;
/// Texts to tokenize between two calls of `tick`: about 3 ms.
const TEXTS_PER_TICK: usize = 64;

/// A sentence embedding model, ready to run on the thread that calls it.
///
/// It has no thread of its own and writes no file. After a fork, both processes can use it.
pub struct Embedder {
    name: Option<String>,
    tokenizer: TruncatingTokenizer,
    model: Model,
    max_tokens: usize,
    /// A long run has reserved memory that is not yet returned to the system.
    holds_memory: bool,
}

impl Embedder {
    /// Opens the model in `model_dir` with the ONNX Runtime library `runtime`.
    ///
    /// # Errors
    /// Every variant of [`EmbedError`].
    pub fn open(runtime: &Path, model_dir: &Path) -> Result<Embedder, EmbedError> {
        Self::open_with(runtime, model_dir, LoadOptions::default())
    }

    /// Like [`Embedder::open`], with options.
    ///
    /// # Errors
    /// Those of [`Embedder::open`].
    pub fn open_with(runtime: &Path, model_dir: &Path, options: LoadOptions) -> Result<Embedder, EmbedError> {
        let embedder = match Manifest::read(model_dir)? {
            Some(manifest) => Self::open_manifest(runtime, model_dir, &manifest, options),
            None => Self::open_export(runtime, model_dir, options),
        };
        release_free_heap();
        embedder
    }

    /// Opens the files that `manifest` names. The directory need not have the manifest yet: setup checks the files before
    /// it writes the manifest.
    ///
    /// # Errors
    /// Those of [`Embedder::open`].
    pub fn open_manifest(
        runtime: &Path,
        dir: &Path,
        manifest: &Manifest,
        options: LoadOptions,
    ) -> Result<Embedder, EmbedError> {
        manifest.check_small_files(dir)?;
        let graph = manifest.path(dir, Role::Graph)?;
        let tokenizer_file = manifest.path(dir, Role::Tokenizer)?;
        let tokenizer = TruncatingTokenizer::open(&tokenizer_file, manifest.max_tokens)?;
        let environment = onnxruntime::environment(runtime)?;
        let model = Model::open(&environment, &graph, true, options)?;
        if model.dimension() != manifest.dimension {
            return Err(EmbedError::unexpected(
                &graph,
                format!("vectors of {} components", manifest.dimension),
                format!("{}", model.dimension()),
            ));
        }
        Ok(Embedder {
            name: Some(manifest.model.clone()),
            tokenizer,
            model,
            max_tokens: manifest.max_tokens,
            holds_memory: false,
        })
    }

    /// Opens an export of `sentence-transformers`: `model.onnx`, in the directory or in `onnx/`, and `tokenizer.json`.
    /// Optimizes the graph each time, which takes about 0.2 s.
    fn open_export(runtime: &Path, dir: &Path, options: LoadOptions) -> Result<Embedder, EmbedError> {
        let graph = [dir.join("model.onnx"), dir.join("onnx/model.onnx")]
            .into_iter()
            .find(|path| path.exists())
            .ok_or_else(|| EmbedError::Missing { path: dir.join("manifest.json"), what: "the model's manifest" })?;
        let max_tokens = export_max_tokens(dir);
        let tokenizer = TruncatingTokenizer::open(&dir.join("tokenizer.json"), max_tokens)?;
        let environment = onnxruntime::environment(runtime)?;
        let model = Model::open(&environment, &graph, false, options)?;
        Ok(Embedder { name: None, tokenizer, model, max_tokens, holds_memory: false })
    }

    /// Number of components of a vector.
    pub fn dimension(&self) -> usize {
        self.model.dimension()
    }

    /// `provider/model` of the manifest; `None` for a directory without a manifest.
    pub fn model(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Most tokens of a text; the rest is cut off.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// The token ids that the model sees for `text`.
    ///
    /// # Errors
    /// `Inference` when the tokenizer fails.
    pub fn token_ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        self.tokenizer.ids(text)
    }

    /// One vector of length 1 for each text, in the order of the texts. A text has the same vector, to the last bit,
    /// whatever texts are embedded with it.
    ///
    /// Calls `tick` before each batch (less than 0.1 s each) and from time to time while tokenizing. `tick` may panic to
    /// stop the work; the embedder remains usable.
    ///
    /// # Errors
    /// `Inference`.
    pub fn embed(&mut self, texts: &[&str], tick: &mut dyn FnMut()) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut ids = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            if index % TEXTS_PER_TICK == TEXTS_PER_TICK - 1 {
                tick();
            }
            ids.push(self.tokenizer.ids(text)?);
        }
        self.embed_ids(&ids, tick)
    }

    /// Like [`Embedder::embed`], for texts that are already tokenized.
    ///
    /// # Errors
    /// `Inference`, also when the model does not know an id.
    pub fn embed_ids(&mut self, texts: &[Vec<u32>], tick: &mut dyn FnMut()) -> Result<Vec<Vec<f32>>, EmbedError> {
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        let (order, batches) = batch::plan(&lengths);
        let mut vectors = vec![Vec::new(); texts.len()];
        let end = batches.last().map_or(0, |batch| batch.end);
        for batch in batches {
            tick();
            let last = batch.end == end;
            let places = &order[batch];
            let run: Vec<&[u32]> = places.iter().map(|&place| texts[place].as_slice()).collect();
            self.holds_memory |= run.iter().map(|ids| ids.len()).sum::<usize>() > SHORT_RUN_TOKENS;
            let found = self.model.run(&run, last && self.holds_memory)?;
            for (&place, vector) in places.iter().zip(found) {
                vectors[place] = vector;
            }
        }
        if self.holds_memory {
            release_free_heap();
            self.holds_memory = false;
        }
        Ok(vectors)
    }
}

/// `max_seq_length` of an export's `sentence_bert_config.json`, where `sentence-transformers` truncates.
fn export_max_tokens(dir: &Path) -> usize {
    let path: PathBuf = dir.join("sentence_bert_config.json");
    fs::read(path)
        .ok()
        .and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok())
        .and_then(|config| config.get("max_seq_length")?.as_u64())
        .map_or(DEFAULT_MAX_TOKENS, |tokens| (tokens as usize).clamp(8, HIGHEST_MAX_TOKENS))
}

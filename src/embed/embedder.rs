//! The library's front: a model directory, opened, that turns texts into vectors.

use std::fs;
use std::path::{Path, PathBuf};

use crate::batch;
use crate::error::EmbedError;
use crate::manifest::{Manifest, Role};
use crate::memory;
use crate::runtime;
use crate::session::{Model, Options};
use crate::tokens::Tokens;

/// Tokens after which a text is cut when a directory without a manifest does not
/// say, and the most that it can ask for.
const USUAL_TOKENS: usize = 256;
const MOST_TOKENS: usize = 512;
/// Tokens of a run that leaves its memory to the next: under half a megabyte.
const SHORT: usize = 64;
/// Texts that are tokenized between two calls of `tick`: some 3 ms.
const TOKENIZED_AT_A_TIME: usize = 64;

/// A sentence embedding model, ready to run on the thread that calls it.
///
/// It has no thread of its own and writes no file. A process that forks may use it
/// on both sides afterwards.
pub struct Embedder {
    name: Option<String>,
    tokens: Tokens,
    model: Model,
    max_tokens: usize,
    /// A long run has taken memory that is not given back yet.
    grown: bool,
}

impl Embedder {
    /// Opens the model in `model_dir` with the ONNX Runtime library `runtime`.
    ///
    /// # Errors
    /// Every variant of [`EmbedError`] but those of setting up.
    pub fn open(runtime: &Path, model_dir: &Path) -> Result<Embedder, EmbedError> {
        Self::open_with(runtime, model_dir, Options::default())
    }

    /// Like [`Embedder::open`], with options.
    ///
    /// # Errors
    /// As there.
    pub fn open_with(runtime: &Path, model_dir: &Path, options: Options) -> Result<Embedder, EmbedError> {
        let embedder = match Manifest::read(model_dir)? {
            Some(manifest) => Self::open_manifest(runtime, model_dir, &manifest, options),
            None => Self::open_export(runtime, model_dir, options),
        };
        memory::release();
        embedder
    }

    /// Opens the files that `manifest` names, whether or not the directory has the
    /// manifest yet.
    pub(crate) fn open_manifest(
        runtime: &Path,
        dir: &Path,
        manifest: &Manifest,
        options: Options,
    ) -> Result<Embedder, EmbedError> {
        manifest.glance(dir)?;
        let graph = manifest.path(dir, Role::Graph)?;
        let tokenizer = manifest.path(dir, Role::Tokenizer)?;
        let tokens = Tokens::open(&tokenizer, manifest.max_tokens)?;
        let environment = runtime::environment(runtime)?;
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
            tokens,
            model,
            max_tokens: manifest.max_tokens,
            grown: false,
        })
    }

    /// Opens what `sentence-transformers` exports: `model.onnx`, there or in `onnx/`,
    /// and `tokenizer.json`. The optimiser runs each time, which takes some 0.2 s.
    fn open_export(runtime: &Path, dir: &Path, options: Options) -> Result<Embedder, EmbedError> {
        let graph = [dir.join("model.onnx"), dir.join("onnx/model.onnx")]
            .into_iter()
            .find(|path| path.exists())
            .ok_or_else(|| EmbedError::Missing { path: dir.join("manifest.json"), what: "the model's manifest" })?;
        let max_tokens = export_tokens(dir);
        let tokens = Tokens::open(&dir.join("tokenizer.json"), max_tokens)?;
        let environment = runtime::environment(runtime)?;
        let model = Model::open(&environment, &graph, false, options)?;
        Ok(Embedder { name: None, tokens, model, max_tokens, grown: false })
    }

    /// Components of a vector.
    pub fn dimension(&self) -> usize {
        self.model.dimension()
    }

    /// `provider/model` of the manifest; none for a directory without one.
    pub fn model(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Tokens after which a text is cut.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// The token ids that the model sees for `text`.
    ///
    /// # Errors
    /// `Inference` when the tokenizer fails.
    pub fn token_ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        self.tokens.ids(text)
    }

    /// One vector of length 1 for each text, in their order. A text has the same
    /// vector, to the last bit, whatever texts are beside it.
    ///
    /// `tick` is called before each batch (under 0.1 s each) and now and then while
    /// tokenizing. It may panic to end the work: the embedder can be used again.
    ///
    /// # Errors
    /// `Inference`.
    pub fn embed(&mut self, texts: &[&str], tick: &mut dyn FnMut()) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut ids = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            if index % TOKENIZED_AT_A_TIME == TOKENIZED_AT_A_TIME - 1 {
                tick();
            }
            ids.push(self.tokens.ids(text)?);
        }
        self.embed_ids(&ids, tick)
    }

    /// Like [`Embedder::embed`], for texts that are tokenized already.
    ///
    /// # Errors
    /// `Inference`, also when an id is not one of the model's.
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
            self.grown |= run.iter().map(|ids| ids.len()).sum::<usize>() > SHORT;
            let found = self.model.run(&run, last && self.grown)?;
            for (&place, vector) in places.iter().zip(found) {
                vectors[place] = vector;
            }
        }
        if self.grown {
            memory::release();
            self.grown = false;
        }
        Ok(vectors)
    }
}

/// `max_seq_length` of an export's `sentence_bert_config.json`, which is what
/// `sentence-transformers` cuts at.
fn export_tokens(dir: &Path) -> usize {
    let path: PathBuf = dir.join("sentence_bert_config.json");
    fs::read(path)
        .ok()
        .and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok())
        .and_then(|config| config.get("max_seq_length")?.as_u64())
        .map_or(USUAL_TOKENS, |tokens| (tokens as usize).clamp(8, MOST_TOKENS))
}

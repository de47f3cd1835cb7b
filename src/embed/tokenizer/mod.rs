//! Turns texts into token ids, with the `tokenizers` crate.

mod truncate;
mod wordpiece;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokenizers::{
    AddedToken, DecoderWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, Tokenizer, TokenizerImpl,
    TruncationParams,
};

use self::wordpiece::WordPiece;
use crate::error::EmbedError;

const WHAT: &str = "the tokenizer";

type WordPieceTokenizer =
    TokenizerImpl<WordPiece, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>;

/// The tokenizer that a `tokenizer.json` describes, with the caller's limit of tokens and no padding, whatever the file
/// configures for these two.
pub(crate) struct TruncatingTokenizer {
    algorithm: Algorithm,
    max_tokens: usize,
}

enum Algorithm {
    WordPiece(Box<WordPieceTokenizer>),
    /// Any other model that the crate supports (BPE, Unigram …).
    Other(Box<Tokenizer>),
}

impl TruncatingTokenizer {
    /// Reads the `tokenizer.json` at `path`. Texts are cut after `max_tokens` tokens, including those that the template
    /// adds.
    ///
    /// # Errors
    /// `Missing`, `Unreadable`, and `Unexpected` when the file is not a tokenizer or its template alone needs
    /// `max_tokens` tokens.
    pub fn open(path: &Path, max_tokens: usize) -> Result<Self, EmbedError> {
        let json = fs::read(path).map_err(|error| EmbedError::reading(path, WHAT, error))?;
        // No thread pool, even if a later version of the crate encodes single texts in parallel.
        tokenizers::parallelism::set_parallelism(false);
        // The crate panics on some malformed files.
        let algorithm = catch_unwind(AssertUnwindSafe(|| Algorithm::parse(&json, max_tokens)));
        let algorithm = algorithm
            .unwrap_or_else(|_| Err("a file that makes the tokenizers crate fail".into()))
            .map_err(|error| EmbedError::unexpected(path, "a tokenizer.json", error.to_string()))?;
        Ok(TruncatingTokenizer { algorithm, max_tokens })
    }

    /// The token ids of `text`: at least those of the template, at most `max_tokens`.
    ///
    /// # Errors
    /// `Inference` when the tokenizer fails. BERT's tokenizer never fails.
    pub fn ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let mut ids = Vec::new();
        for prefix in truncate::prefixes(text) {
            ids = self.algorithm.encode(prefix).map_err(EmbedError::inference)?;
            if ids.len() >= self.max_tokens {
                break;
            }
        }
        Ok(ids)
    }
}

impl Algorithm {
    fn parse(json: &[u8], max_tokens: usize) -> tokenizers::Result<Algorithm> {
        let json = std::str::from_utf8(json)?;
        let mut algorithm = match word_piece(json) {
            Some(tokenizer) => Algorithm::WordPiece(Box::new(tokenizer)),
            None => Algorithm::Other(Box::new(json.parse()?)),
        };
        match &mut algorithm {
            Algorithm::WordPiece(tokenizer) => set_token_limit(tokenizer, max_tokens)?,
            Algorithm::Other(tokenizer) => set_token_limit(tokenizer, max_tokens)?,
        }
        Ok(algorithm)
    }

    fn encode(&self, text: &str) -> tokenizers::Result<Vec<u32>> {
        let encoding = match self {
            Algorithm::WordPiece(tokenizer) => tokenizer.encode_fast(text, true)?,
            Algorithm::Other(tokenizer) => tokenizer.encode_fast(text, true)?,
        };
        Ok(encoding.get_ids().to_vec())
    }
}

/// The parts of a `tokenizer.json` whose model is WordPiece.
#[derive(Deserialize)]
struct WordPieceFile<'a> {
    #[serde(borrow)]
    version: Option<&'a RawValue>,
    normalizer: Option<&'a RawValue>,
    pre_tokenizer: Option<&'a RawValue>,
    post_processor: Option<&'a RawValue>,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    model: WordPiece,
}

/// The tokenizer that `json` describes, if its model is WordPiece.
///
/// The crate reads everything but the model and the added tokens, with code that is already compiled. Deserializing
/// `TokenizerImpl` with another model type would compile all of that code again here, which takes a minute.
fn word_piece(json: &str) -> Option<WordPieceTokenizer> {
    let file: WordPieceFile = serde_json::from_str(json).ok()?;
    let rest = serde_json::json!({
        "version": file.version,
        "normalizer": file.normalizer,
        "pre_tokenizer": file.pre_tokenizer,
        "post_processor": file.post_processor,
        "model": {
            "type": "WordPiece", "unk_token": "", "continuing_subword_prefix": "",
            "max_input_chars_per_word": 0, "vocab": {},
        },
    });
    let rest: Tokenizer = rest.to_string().parse().ok()?;
    let mut tokenizer = TokenizerImpl::new(file.model);
    tokenizer
        .with_normalizer(rest.get_normalizer().cloned())
        .ok()?
        .with_pre_tokenizer(rest.get_pre_tokenizer().cloned())
        .with_post_processor(rest.get_post_processor().cloned());
    tokenizer.add_tokens(file.added_tokens).ok()?;
    Some(tokenizer)
}

fn set_token_limit<M, N, PT, PP, D>(
    tokenizer: &mut TokenizerImpl<M, N, PT, PP, D>,
    max_tokens: usize,
) -> tokenizers::Result<()>
where
    M: tokenizers::Model,
    N: tokenizers::Normalizer,
    PT: tokenizers::PreTokenizer,
    PP: tokenizers::PostProcessor,
    D: tokenizers::Decoder,
{
    let added = tokenizer.get_post_processor().map_or(0, |p| p.added_tokens(false));
    if added >= max_tokens {
        return Err(format!("a template of {added} tokens, where texts are limited to {max_tokens}").into());
    }
    tokenizer.with_padding(None);
    tokenizer.with_truncation(Some(TruncationParams { max_length: max_tokens, ..TruncationParams::default() }))?;
    Ok(())
}

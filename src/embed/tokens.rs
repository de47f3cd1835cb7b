//! Texts to token ids.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokenizers::{
    AddedToken, DecoderWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, Tokenizer, TokenizerImpl,
    TruncationParams,
};

use crate::clip;
use crate::error::EmbedError;
use crate::wordpiece::WordPiece;

const WHAT: &str = "the tokenizer";

type WordPieceTokenizer =
    TokenizerImpl<WordPiece, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>;

/// What a `tokenizer.json` describes, with truncation at a number of tokens of our
/// own and no padding, whatever the file says about either.
pub(crate) struct Tokens {
    kind: Kind,
    max_tokens: usize,
}

enum Kind {
    WordPiece(Box<WordPieceTokenizer>),
    /// Any other model that the crate knows (BPE, Unigram …).
    Other(Box<Tokenizer>),
}

impl Tokens {
    /// Reads the `tokenizer.json` at `path`. Texts are cut after `max_tokens`
    /// tokens, including those that the template adds.
    ///
    /// # Errors
    /// `Missing`, `Unreadable`, and `Unexpected` when the file is not a tokenizer
    /// or its template alone needs `max_tokens` tokens.
    pub fn open(path: &Path, max_tokens: usize) -> Result<Self, EmbedError> {
        let json = fs::read(path).map_err(|error| EmbedError::reading(path, WHAT, error))?;
        // Never a pool of threads, even if a later version of the crate should
        // encode single texts in parallel.
        tokenizers::parallelism::set_parallelism(false);
        // The crate panics on some malformed files.
        let kind = catch_unwind(AssertUnwindSafe(|| Kind::parse(&json, max_tokens)));
        let kind = kind
            .unwrap_or_else(|_| Err("a description that makes the tokenizer crate fail".into()))
            .map_err(|error| EmbedError::unexpected(path, "a tokenizer.json", error.to_string()))?;
        Ok(Tokens { kind, max_tokens })
    }

    /// The token ids of `text`: at least those of the template, at most `max_tokens`.
    ///
    /// # Errors
    /// `Inference` when the tokenizer fails, which that of BERT never does.
    pub fn ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let mut ids = Vec::new();
        for beginning in clip::beginnings(text) {
            ids = self.kind.encode(beginning).map_err(EmbedError::inference)?;
            if ids.len() >= self.max_tokens {
                break;
            }
        }
        Ok(ids)
    }
}

impl Kind {
    fn parse(json: &[u8], max_tokens: usize) -> tokenizers::Result<Kind> {
        let json = std::str::from_utf8(json)?;
        let mut kind = match word_piece(json) {
            Some(tokenizer) => Kind::WordPiece(Box::new(tokenizer)),
            None => Kind::Other(Box::new(json.parse()?)),
        };
        match &mut kind {
            Kind::WordPiece(tokenizer) => limit(tokenizer, max_tokens)?,
            Kind::Other(tokenizer) => limit(tokenizer, max_tokens)?,
        }
        Ok(kind)
    }

    fn encode(&self, text: &str) -> tokenizers::Result<Vec<u32>> {
        let encoding = match self {
            Kind::WordPiece(tokenizer) => tokenizer.encode_fast(text, true)?,
            Kind::Other(tokenizer) => tokenizer.encode_fast(text, true)?,
        };
        Ok(encoding.get_ids().to_vec())
    }
}

/// The parts of a `tokenizer.json` whose model is a WordPiece.
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

/// The tokenizer that `json` describes, when its model is a WordPiece.
///
/// The crate reads everything but the model and the added tokens. Its own code does
/// that, compiled with it; deserialising `TokenizerImpl` with another model would
/// compile all of it again here, which takes a minute.
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

fn limit<M, N, PT, PP, D>(tokenizer: &mut TokenizerImpl<M, N, PT, PP, D>, max_tokens: usize) -> tokenizers::Result<()>
where
    M: tokenizers::Model,
    N: tokenizers::Normalizer,
    PT: tokenizers::PreTokenizer,
    PP: tokenizers::PostProcessor,
    D: tokenizers::Decoder,
{
    let added = tokenizer.get_post_processor().map_or(0, |p| p.added_tokens(false));
    if added >= max_tokens {
        return Err(format!("a template of {added} tokens where {max_tokens} are kept").into());
    }
    tokenizer.with_padding(None);
    tokenizer.with_truncation(Some(TruncationParams { max_length: max_tokens, ..TruncationParams::default() }))?;
    Ok(())
}

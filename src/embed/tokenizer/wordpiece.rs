//! The WordPiece model, in less memory than that of the `tokenizers` crate.
//!
//! The crate stores the vocabulary twice, as two hash maps of `String`: 7 MB for BERT's 30,522 words, in every backend.
//! This model stores one string of all words and two tables of numbers: 0.6 MB. It plugs into the same `TokenizerImpl`,
//! so normalization, splitting, added tokens, and the template are still the crate's code.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use tokenizers::models::wordpiece::WordPieceTrainer;
use tokenizers::{Model, Token};

/// Words and their ids, searched by hash.
#[derive(Default)]
struct Vocabulary {
    /// All words, concatenated.
    text: String,
    /// Offset of each word in `text`.
    starts: Vec<u32>,
    /// The id of each word; empty if ids are the positions of the words, as in most files.
    ids: Vec<u32>,
    /// Hash table with open addressing: 1 + the index of a word, or 0 if free. Two thirds full, to keep searches short.
    slots: Vec<u32>,
    /// Length of the longest word, in bytes.
    longest: usize,
}

impl Vocabulary {
    fn push(&mut self, word: &str, id: u32) {
        let index = self.starts.len() as u32;
        if self.ids.is_empty() && id != index {
            self.ids.extend(0..index);
        }
        if !self.ids.is_empty() || id != index {
            self.ids.push(id);
        }
        self.starts.push(self.text.len() as u32);
        self.text.push_str(word);
        self.longest = self.longest.max(word.len());
    }

    /// Builds the hash table. Of two equal words, the later one wins.
    fn build_slots(&mut self) {
        self.text.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.ids.shrink_to_fit();
        self.slots = vec![0; self.starts.len() * 3 / 2 + 1];
        for index in 0..self.starts.len() {
            let slot = self.slot(self.word(index));
            self.slots[slot] = index as u32 + 1;
        }
    }

    fn word(&self, index: usize) -> &str {
        let start = self.starts[index] as usize;
        let end = self.starts.get(index + 1).map_or(self.text.len(), |&start| start as usize);
        &self.text[start..end]
    }

    fn id(&self, index: usize) -> u32 {
        self.ids.get(index).copied().unwrap_or(index as u32)
    }

    /// All words and their ids.
    fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        (0..self.starts.len()).map(|index| (self.word(index), self.id(index)))
    }

    /// The slot of `word`, or the free slot where it belongs.
    fn slot(&self, word: &str) -> usize {
        let mut slot = (hash(word) % self.slots.len() as u64) as usize;
        loop {
            match self.slots[slot] {
                0 => return slot,
                found if self.word(found as usize - 1) == word => return slot,
                _ => slot = (slot + 1) % self.slots.len(),
            }
        }
    }

    fn get(&self, word: &str) -> Option<u32> {
        match self.slots[self.slot(word)] {
            0 => None,
            found => Some(self.id(found as usize - 1)),
        }
    }
}

/// FNV-1a.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Splits a word into the longest pieces that are in the vocabulary.
pub(crate) struct WordPiece {
    vocabulary: Vocabulary,
    unknown: String,
    unknown_id: u32,
    /// Marks every piece of a word except the first.
    prefix: String,
    /// A word with more characters is unknown.
    max_chars: usize,
}

impl WordPiece {
    /// The pieces of `word`, or `None` when a part of it is not in the vocabulary.
    fn pieces(&self, word: &str) -> Option<Vec<Token>> {
        let mut tokens = Vec::new();
        let mut candidate = String::with_capacity(self.prefix.len() + word.len());
        let mut start = 0;
        while start < word.len() {
            candidate.clear();
            if start > 0 {
                candidate.push_str(&self.prefix);
            }
            let before = candidate.len();
            let room = self.vocabulary.longest.saturating_sub(before);
            let reach = word.floor_char_boundary(start + room.min(word.len() - start));
            candidate.push_str(&word[start..reach]);
            let id = loop {
                if candidate.len() <= before {
                    return None;
                }
                match self.vocabulary.get(&candidate) {
                    Some(id) => break id,
                    None => candidate.pop(),
                };
            };
            let end = start + candidate.len() - before;
            tokens.push(Token::new(id, candidate.clone(), (start, end)));
            start = end;
        }
        Some(tokens)
    }
}

impl Model for WordPiece {
    type Trainer = WordPieceTrainer;

    fn tokenize(&self, word: &str) -> tokenizers::Result<Vec<Token>> {
        let known = word.chars().nth(self.max_chars).is_none();
        let pieces = if known { self.pieces(word) } else { None };
        Ok(pieces.unwrap_or_else(|| vec![Token::new(self.unknown_id, self.unknown.clone(), (0, word.len()))]))
    }

    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.vocabulary.get(token)
    }

    fn id_to_token(&self, id: u32) -> Option<String> {
        let mut words = self.vocabulary.iter();
        words.find(|word| word.1 == id).map(|word| word.0.to_owned())
    }

    fn get_vocab(&self) -> HashMap<String, u32> {
        let words = self.vocabulary.iter();
        words.map(|(word, id)| (word.to_owned(), id)).collect()
    }

    fn get_vocab_size(&self) -> usize {
        self.vocabulary.starts.len()
    }

    fn save(&self, _: &Path, _: Option<&str>) -> tokenizers::Result<Vec<PathBuf>> {
        Err("this model cannot be saved".into())
    }

    fn get_trainer(&self) -> WordPieceTrainer {
        WordPieceTrainer::default()
    }
}

impl<'de> Deserialize<'de> for WordPiece {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(WordPieceVisitor)
    }
}

struct WordPieceVisitor;

impl<'de> Visitor<'de> for WordPieceVisitor {
    type Value = WordPiece;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a WordPiece model")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<WordPiece, M::Error> {
        let mut unknown = "[UNK]".to_owned();
        let mut prefix = "##".to_owned();
        let mut max_chars = 100;
        let mut vocabulary = Vocabulary::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "type" => {
                    let kind: String = map.next_value()?;
                    if kind != "WordPiece" {
                        return Err(de::Error::invalid_value(de::Unexpected::Str(&kind), &"WordPiece"));
                    }
                }
                "unk_token" => unknown = map.next_value()?,
                "continuing_subword_prefix" => prefix = map.next_value()?,
                "max_input_chars_per_word" => max_chars = map.next_value()?,
                "vocab" => map.next_value_seed(VocabularySeed(&mut vocabulary))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        vocabulary.build_slots();
        let unknown_id = vocabulary
            .get(&unknown)
            .ok_or_else(|| de::Error::custom(format!("the vocabulary has no unknown token {unknown:?}")))?;
        Ok(WordPiece { vocabulary, unknown, unknown_id, prefix, max_chars })
    }
}

/// Reads a JSON object of words and ids directly into a vocabulary.
struct VocabularySeed<'v>(&'v mut Vocabulary);

impl<'de> DeserializeSeed<'de> for VocabularySeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for VocabularySeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("words and their ids")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(VocabularyKey(word)) = map.next_key()? {
            let id = map.next_value()?;
            self.0.push(&word, id);
        }
        Ok(())
    }
}

/// A word, borrowed from the file unless it contains an escape.
#[derive(Deserialize)]
struct VocabularyKey<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> WordPiece {
        serde_json::from_str(
            r###"{"type":"WordPiece","unk_token":"?","max_input_chars_per_word":8,
                "vocab":{"?":0,"un":1,"##aff":2,"##able":3,"a":4,"\u00e9t\u00e9":5,"##é":6,"\"":7}}"###,
        )
        .unwrap()
    }

    fn ids(word: &str) -> Vec<u32> {
        model().tokenize(word).unwrap().iter().map(|t| t.id).collect()
    }

    #[test]
    fn the_longest_piece_wins_and_the_rest_is_split_further() {
        assert_eq!(ids("unaff"), [1, 2]);
        assert_eq!(ids("unable"), [1, 3]);
        assert_eq!(ids("été"), [5]);
        assert_eq!(ids("aéé"), [4, 6, 6]);
        assert_eq!(ids("\""), [7]);
    }

    #[test]
    fn a_word_that_is_long_or_has_an_unknown_part_is_unknown() {
        assert_eq!(ids("unx"), [0]);
        assert_eq!(ids("東"), [0]);
        assert_eq!(ids("aéééééééé"), [0]);
        assert_eq!(ids("aééééééé"), [4, 6, 6, 6, 6, 6, 6, 6]);
        assert!(ids("").is_empty());
    }

    #[test]
    fn ids_and_words_map_both_ways() {
        let model = model();
        assert_eq!(model.token_to_id("##able"), Some(3));
        assert_eq!(model.token_to_id("able"), None);
        assert_eq!(model.id_to_token(5).as_deref(), Some("été"));
        assert_eq!(model.get_vocab_size(), 8);
        assert_eq!(model.get_vocab()["un"], 1);
    }

    #[test]
    fn another_kind_of_model_is_rejected() {
        assert!(serde_json::from_str::<WordPiece>(r#"{"type":"BPE","vocab":{}}"#).is_err());
        assert!(serde_json::from_str::<WordPiece>(r#"{"type":"WordPiece","vocab":{}}"#).is_err());
    }
}

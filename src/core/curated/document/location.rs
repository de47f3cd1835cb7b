//! The place of a line in a document: the datasource, the item and the key that it belongs to.

use crate::catalog::identifier::shown;
use serde_saphyr::granit_parser::{Event, Parser, Span};
use std::fmt;

/// Line and column where the parser stopped, from 1.
pub(crate) type Position = (u64, u64);

/// `datasource "shop", verified query "top", params.n`: the parts that are known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DocumentPlace {
    datasource: Option<String>,
    piece: Option<ItemPlace>,
    /// Keys inside the item, outer ones first.
    keys: Vec<String>,
    /// The last datasource or item has ended: the position is after it.
    after: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct ItemPlace {
    kind: ItemKind,
    number: usize,
    /// Its id, name or term, if it has one.
    name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    VerifiedQuery,
    Metric,
    Term,
}

impl ItemKind {
    fn of_list(key: &str) -> Option<Self> {
        match key {
            "verified_queries" => Some(ItemKind::VerifiedQuery),
            "metrics" => Some(ItemKind::Metric),
            "glossary" => Some(ItemKind::Term),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            ItemKind::VerifiedQuery => "verified query",
            ItemKind::Metric => "metric",
            ItemKind::Term => "term",
        }
    }

    /// The key that holds an item's name.
    fn key(self) -> &'static str {
        match self {
            ItemKind::VerifiedQuery => "id",
            ItemKind::Metric => "name",
            ItemKind::Term => "term",
        }
    }
}

impl fmt::Display for DocumentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(datasource) = &self.datasource else { return Ok(()) };
        let after = |level: bool| if self.after && level { "after " } else { "" };
        write!(f, "{}datasource \"{}\"", after(self.piece.is_none()), shown(datasource))?;
        if let Some(ItemPlace { kind, number, name }) = &self.piece {
            match name {
                Some(name) => write!(f, ", {}{} \"{}\"", after(true), kind.name(), shown(name))?,
                None => write!(f, ", {}{} {number}", after(true), kind.name())?,
            }
        }
        if !self.keys.is_empty() {
            let keys: Vec<_> = self.keys.iter().map(|key| shown(key)).collect();
            write!(f, ", {}", keys.join("."))?;
        }
        Ok(())
    }
}

/// A mapping or list that is open while the document is read.
enum OpenNode {
    /// With the key that was read last.
    Mapping { key: String, part: EntryPart },
    /// With the number of elements that have started.
    List(usize),
}

/// The part of an entry that has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryPart {
    Nothing,
    Key,
    All,
}

/// Reading stops at this depth: a place is less deep.
const DEPTH: usize = 64;
/// The depth of an item's own keys, and the number of keys in a place, at most: `params.n.default`.
const PIECE: usize = 5;
const KEYS: usize = 3;

/// Finds the place of a position. Reads the document up to there, and to the end of the item for its name.
pub(super) fn find(text: &str, position: Position) -> DocumentPlace {
    let mut walk = EventWalk::default();
    let mut place: Option<DocumentPlace> = None;
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { break };
        if place.is_none() && begins_after(&span, position) {
            place = Some(walk.place());
        }
        if let Some(place) = &mut place
            && walk.fill(place)
        {
            break;
        }
        if walk.step(event).is_none() {
            break;
        }
    }
    let mut place = place.unwrap_or_else(|| walk.place());
    walk.fill(&mut place);
    place
}

fn begins_after(span: &Span, (line, column): Position) -> bool {
    let begin = (span.start.line() as u64, span.start.col() as u64 + 1);
    begin > (line, column)
}

/// The open mappings and lists, outer ones first, and the name of the open item.
#[derive(Default)]
struct EventWalk {
    open: Vec<OpenNode>,
    name: Option<String>,
    /// The last event ended a mapping or list.
    ended: bool,
}

impl EventWalk {
    /// Returns `None` if reading can stop.
    fn step(&mut self, event: Event) -> Option<()> {
        self.ended = matches!(event, Event::MappingEnd | Event::SequenceEnd);
        match event {
            Event::Scalar(text, ..) => self.node(Some(&text), None),
            Event::Alias(_) => self.node(None, None),
            Event::MappingStart(..) => {
                self.node(None, Some(OpenNode::Mapping { key: String::new(), part: EntryPart::Nothing }))
            }
            Event::SequenceStart(..) => self.node(None, Some(OpenNode::List(0))),
            Event::MappingEnd | Event::SequenceEnd => {
                self.open.pop();
            }
            Event::DocumentEnd => return None,
            _ => {}
        }
        (self.open.len() <= DEPTH).then_some(())
    }

    /// A node starts: a scalar, an alias, a mapping or a list.
    fn node(&mut self, text: Option<&str>, opens: Option<OpenNode>) {
        let depth = self.open.len();
        match self.open.last_mut() {
            Some(OpenNode::Mapping { key, part: part @ (EntryPart::Nothing | EntryPart::All) }) => {
                *key = text.unwrap_or_default().to_owned();
                *part = EntryPart::Key;
            }
            Some(OpenNode::Mapping { part, .. }) => {
                *part = EntryPart::All;
                if depth == PIECE && self.name.is_none() && self.is_name() {
                    self.name = text.filter(|text| !text.is_empty()).map(str::to_owned);
                }
            }
            Some(OpenNode::List(elements)) => {
                *elements += 1;
                if depth == PIECE - 1 {
                    self.name = None;
                }
            }
            None => {}
        }
        self.open.extend(opens);
    }

    fn key(&self, depth: usize) -> Option<&str> {
        match self.open.get(depth)? {
            OpenNode::Mapping { key, part } if *part != EntryPart::Nothing => Some(key),
            _ => None,
        }
    }

    fn is_name(&self) -> bool {
        self.piece().is_some_and(|(kind, _)| self.key(PIECE - 1) == Some(kind.key()))
    }

    /// The kind and number of the open item.
    fn piece(&self) -> Option<(ItemKind, usize)> {
        let kind = ItemKind::of_list(self.key(2)?)?;
        match self.open.get(3)? {
            OpenNode::List(number @ 1..) => Some((kind, *number)),
            _ => None,
        }
    }

    fn place(&self) -> DocumentPlace {
        if self.key(0) != Some("datasources") {
            return DocumentPlace::default();
        }
        let piece = self.piece().map(|(kind, number)| ItemPlace { kind, number, name: None });
        // Skip a key whose value has not started or has ended.
        let inner = self.open.len() - usize::from(self.ended);
        let keys = self.open[..inner].iter().skip(PIECE - 1).filter_map(|open| match open {
            OpenNode::Mapping { key, part: EntryPart::All } => Some(key.clone()),
            _ => None,
        });
        let keys = if piece.is_some() { keys.take(KEYS).collect() } else { Vec::new() };
        let after = self.ended && (self.open.len() == 2 || self.open.len() == PIECE - 1);
        DocumentPlace { datasource: self.key(1).map(str::to_owned), keys, piece, after }
    }

    /// Sets the name of the place's item. Returns whether the place is complete.
    fn fill(&self, place: &mut DocumentPlace) -> bool {
        let Some(piece) = &mut place.piece else { return true };
        if self.piece() != Some((piece.kind, piece.number)) {
            return true;
        }
        piece.name.clone_from(&self.name);
        piece.name.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
datasources:
  'my shop':
    verified_queries:
    - id: top
      params:
        n: {type: int, choices: [1, 2]}
      sql: SELECT 1
    - questions: [a,
        b]
      id: late
    - {}
    glossary: [{definition: a}, {term: b}]
  other: {metrics: [{name: m}, x]}
";

    #[test]
    fn lines_have_places() {
        for (position, place) in [
            ((1, 1), ""),
            ((2, 1), ""),
            ((3, 3), "datasource \"my shop\""),
            ((5, 9), "datasource \"my shop\", verified query \"top\""),
            ((7, 17), "datasource \"my shop\", verified query \"top\", params.n"),
            ((7, 13), "datasource \"my shop\", verified query \"top\", params.n"),
            ((7, 19), "datasource \"my shop\", verified query \"top\", params.n.type"),
            ((7, 35), "datasource \"my shop\", verified query \"top\", params.n.choices"),
            ((9, 19), "datasource \"my shop\", verified query \"late\", questions"),
            ((12, 7), "datasource \"my shop\", verified query 3"),
            ((13, 17), "datasource \"my shop\", term 1"),
            ((13, 35), "datasource \"my shop\", term \"b\""),
            ((14, 32), "datasource \"other\", metric 2"),
        ] {
            let found = find(TEXT, position).to_string();
            assert_eq!(found, place, "{position:?}");
        }
        assert_eq!(
            find("datasources: {a: {metrics: [{name: m}, {name: \"\\q", (1, 50)).to_string(),
            "datasource \"a\", after metric \"m\""
        );
        assert_eq!(find("datasources: {a: {metrics: []}, \"\\q", (1, 50)).to_string(), "after datasource \"a\"");
        assert_eq!(find("a: {b: {metrics: [{name: m}]}}", (1, 27)), DocumentPlace::default());
        assert_eq!(find(&"[".repeat(100_000), (1, 90_000)), DocumentPlace::default());
    }
}

//! The layout of each crate: no circle between files or between rooms, a type's name unique, a door that says what is
//! behind it, and nothing of Postgres in core.
//!
//! A room is a folder or a file at the top of a crate. The folders of `CONTAINERS` hold rooms themselves. Imports are
//! read as text: `use` trees, and paths that begin with `crate`, `self` or `super`. Code under `#[cfg(test)]` and the
//! `mod` lines of a door do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate by the folder of its sources, relative to the top of the repository.
const CRATES: [&str; 4] = ["src", "src/core", "src/embed", "src/model"];
/// Folders under `src` that are crates of their own.
const NESTED: [&str; 3] = ["core", "embed", "model"];
/// Modules whose folders are rooms.
const CONTAINERS: [&str; 2] = ["pg", "api"];

/// A module's path in its crate: `["catalog", "schema"]`.
type Module = Vec<String>;

struct Crate {
    name: &'static str,
    files: BTreeMap<Module, SourceFile>,
}

struct SourceFile {
    path: PathBuf,
    /// As it is written.
    text: String,
    /// Without comments, texts and code of tests, in tokens.
    tokens: Vec<String>,
}

impl Crate {
    fn read(name: &'static str) -> Self {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let mut files = BTreeMap::new();
        collect(&top, &mut Vec::new(), name == "src", &mut files);
        assert!(!files.is_empty(), "{name} has source files");
        Self { name, files }
    }

    fn room(&self, module: &Module) -> String {
        let depth = if self.name == "src" && CONTAINERS.contains(&module[0].as_str()) { 2 } else { 1 };
        module[..depth.min(module.len())].join("::")
    }

    /// The files that each file uses.
    fn uses(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let mut uses: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (module, file) in &self.files {
            let used = paths(&file.tokens).into_iter().filter_map(|path| self.resolve(module, &path));
            uses.insert(module.clone(), used.filter(|used| used != module).collect());
        }
        uses
    }

    /// The file that a path leads to, the longest one.
    fn resolve(&self, from: &Module, path: &[String]) -> Option<Module> {
        let mut absolute = match path[0].as_str() {
            "crate" => Vec::new(),
            _ => from.clone(),
        };
        for part in path.iter() {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => {
                    absolute.pop();
                }
                name => absolute.push(name.to_owned()),
            }
        }
        (1..=absolute.len())
            .rev()
            .map(|length| absolute[..length].to_vec())
            .find(|module| self.files.contains_key(module))
    }
}

fn collect(folder: &Path, module: &mut Module, skips_nested: bool, files: &mut BTreeMap<Module, SourceFile>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let skipped = module.is_empty() && ((skips_nested && NESTED.contains(&name.as_str())) || name == "tests");
            if !skipped {
                module.push(name);
                collect(&path, module, skips_nested, files);
                module.pop();
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let tokens = without_tests(&tokens(&text));
            let mut module = module.clone();
            match name.as_str() {
                "mod" => {}
                "lib" | "main" if module.is_empty() => continue,
                _ => module.push(name),
            }
            files.insert(module, SourceFile { path, text, tokens });
        }
    }
}

/// Words and signs; texts and comments are left out, a lifetime is one token.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let at = |place: usize| chars.get(place).copied().unwrap_or('\0');
    let mut tokens = Vec::new();
    let mut place = 0;
    while place < chars.len() {
        let c = chars[place];
        if c == '/' && at(place + 1) == '/' {
            while place < chars.len() && chars[place] != '\n' {
                place += 1;
            }
        } else if c == '/' && at(place + 1) == '*' {
            let mut depth = 0;
            while place < chars.len() {
                match (at(place), at(place + 1)) {
                    ('/', '*') => (depth, place) = (depth + 1, place + 2),
                    ('*', '/') => (depth, place) = (depth - 1, place + 2),
                    _ => place += 1,
                }
                if depth == 0 {
                    break;
                }
            }
        } else if let Some(end) = raw_text_end(&chars, place) {
            place = end;
        } else if c == '"' {
            place += 1;
            while place < chars.len() && chars[place] != '"' {
                place += if chars[place] == '\\' { 2 } else { 1 };
            }
            place += 1;
        } else if c == '\'' && (at(place + 1) == '\\' || at(place + 2) == '\'') {
            // A character, not a lifetime.
            place += if at(place + 1) == '\\' { 3 } else { 2 };
            while place < chars.len() && chars[place] != '\'' {
                place += 1;
            }
            place += 1;
        } else if c.is_alphanumeric() || c == '_' || c == '\'' {
            let start = place;
            place += 1;
            while at(place).is_alphanumeric() || at(place) == '_' {
                place += 1;
            }
            tokens.push(chars[start..place].iter().collect());
        } else if c == ':' && at(place + 1) == ':' {
            tokens.push("::".to_owned());
            place += 2;
        } else {
            if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
            place += 1;
        }
    }
    tokens
}

/// Where a raw text ends that begins at a place: `r"…"`, `r#"…"#`, `br"…"`, `cr"…"`.
fn raw_text_end(chars: &[char], place: usize) -> Option<usize> {
    let before = place.checked_sub(1).map(|before| chars[before]);
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let mut at = place;
    if matches!(chars[at], 'b' | 'c') {
        at += 1;
    }
    if chars.get(at) != Some(&'r') {
        return None;
    }
    at += 1;
    let hashes = chars[at..].iter().take_while(|c| **c == '#').count();
    at += hashes;
    if chars.get(at) != Some(&'"') {
        return None;
    }
    let closes = |end: usize| chars[end] == '"' && chars[end + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
    (at + 1..chars.len()).find(|end| closes(*end)).map(|end| end + 1 + hashes)
}

/// Without the items under `#[cfg(test)]`.
fn without_tests(tokens: &[String]) -> Vec<String> {
    const CFG_TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut place = 0;
    while place < tokens.len() {
        if tokens[place..].iter().take(CFG_TEST.len()).eq(CFG_TEST.iter()) {
            // An item ends with its block, or with a semicolon outside all brackets.
            let mut depth = 0;
            place += CFG_TEST.len();
            while place < tokens.len() {
                let token = tokens[place].as_str();
                match token {
                    "{" | "(" | "[" => depth += 1,
                    "}" | ")" | "]" => depth -= 1,
                    _ => {}
                }
                place += 1;
                if depth == 0 && matches!(token, "}" | ";") {
                    break;
                }
            }
        } else {
            kept.push(tokens[place].clone());
            place += 1;
        }
    }
    kept
}

/// All paths that begin with `crate`, `self` or `super`, those of `use` trees written out.
fn paths(tokens: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut place = 0;
    while place < tokens.len() {
        let begins = matches!(tokens[place].as_str(), "crate" | "self" | "super")
            && tokens.get(place + 1).is_some_and(|next| next == "::")
            && (place == 0 || tokens[place - 1] != "::");
        if begins {
            place = tree(tokens, place, &mut Vec::new(), &mut found);
        } else {
            place += 1;
        }
    }
    found
}

/// Reads one branch of a `use` tree, or a path; returns where it ends.
fn tree(tokens: &[String], start: usize, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let length = before.len();
    let mut place = start;
    loop {
        match tokens.get(place).map(String::as_str) {
            Some("{") => {
                place += 1;
                while tokens.get(place).is_some_and(|token| token != "}") {
                    place = tree(tokens, place, before, found);
                    if tokens.get(place).is_some_and(|token| token == ",") {
                        place += 1;
                    }
                }
                before.truncate(length);
                return place + 1;
            }
            Some("*") => place += 1,
            Some(word) if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                before.push(word.to_owned());
                place += 1;
            }
            _ => {}
        }
        if tokens.get(place).is_some_and(|token| token == "::") && tokens.get(place + 1).is_some_and(|next| next != "<")
        {
            place += 1;
            continue;
        }
        found.push(before.clone());
        if tokens.get(place).is_some_and(|token| token == "as") {
            place += 2;
        }
        before.truncate(length);
        return place.max(start + 1);
    }
}

/// The circles of a graph: groups of nodes that reach each other.
fn circles<T: Ord + Clone>(graph: &BTreeMap<T, BTreeSet<T>>) -> Vec<Vec<T>> {
    let reached: BTreeMap<&T, BTreeSet<&T>> = graph
        .keys()
        .map(|start| {
            let mut reached = BTreeSet::new();
            let mut left: Vec<&T> = vec![start];
            while let Some(node) = left.pop() {
                left.extend(graph.get(node).into_iter().flatten().filter(|next| reached.insert(*next)));
            }
            (start, reached)
        })
        .collect();
    let mut known = BTreeSet::new();
    let mut circles = Vec::new();
    for node in graph.keys().filter(|node| reached[node].contains(*node)) {
        let group: Vec<T> = reached[node]
            .iter()
            .filter(|other| reached[**other].contains(node))
            .map(|other| (*other).clone())
            .collect();
        if known.insert(group.clone()) {
            circles.push(group);
        }
    }
    circles
}

#[test]
fn no_circle_between_files() {
    for krate in CRATES.map(Crate::read) {
        let circles = circles(&krate.uses());
        let name = |group: &Vec<Module>| group.iter().map(|module| module.join("::")).collect::<Vec<_>>().join(", ");
        let named: Vec<String> = circles.iter().map(name).collect();
        assert!(named.is_empty(), "{}: files that use each other: {named:#?}", krate.name);
    }
}

#[test]
fn no_circle_between_rooms() {
    for krate in CRATES.map(Crate::read) {
        let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, used) in krate.uses() {
            let room = krate.room(&module);
            let others = used.iter().map(|module| krate.room(module)).filter(|other| *other != room);
            rooms.entry(room.clone()).or_default().extend(others);
        }
        let circles = circles(&rooms);
        assert!(circles.is_empty(), "{}: rooms that use each other: {circles:#?}", krate.name);
    }
}

#[test]
fn a_type_has_its_name_alone() {
    for krate in CRATES.map(Crate::read) {
        let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, file) in &krate.files {
            let mut depth = 0;
            for (place, token) in file.tokens.iter().enumerate() {
                match token.as_str() {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    // Associated types are named by their traits, and what a function declares is its own.
                    "struct" | "enum" | "trait" | "type" | "union" if depth == 0 => {
                        let name = &file.tokens[place + 1];
                        places.entry(name.clone()).or_default().insert(module.join("::"));
                    }
                    _ => {}
                }
            }
        }
        places.retain(|_, modules| modules.len() > 1);
        assert!(places.is_empty(), "{}: names of several types: {places:#?}", krate.name);
    }
}

#[test]
fn doors_say_what_is_behind_them() {
    for krate in CRATES.map(Crate::read) {
        for file in krate.files.values().filter(|file| file.path.ends_with("mod.rs")) {
            assert!(file.text.starts_with("//! "), "{}: it begins with no doc comment", file.path.display());
        }
    }
}

#[test]
fn core_knows_nothing_of_postgres() {
    for file in Crate::read("src/core").files.values() {
        let found = file.tokens.iter().find(|token| matches!(token.as_str(), "pgrx" | "pg_sys" | "unsafe"));
        assert_eq!(found, None, "{}", file.path.display());
    }
}

/// The reader of imports itself.
#[test]
fn imports_are_read() {
    let text = r##"
        use crate::{a::{self, b::C, d::*}, e as f};
        use super::g::{
            H,
            self,
        };
        // use crate::comment;
        const TEXT: &str = "crate::text"; const RAW: &str = r#"crate::"raw"#; const C: char = '"';
        fn k<'a>() -> crate::l::M<'a> { self::n::o::<super::p::Q>(); std::x::y(crate::z) }
        #[cfg(test)]
        mod tests { use crate::test; }
        #[cfg(test)]
        use crate::other_test;
    "##;
    let found: Vec<String> = paths(&without_tests(&tokens(text))).into_iter().map(|path| path.join("::")).collect();
    let expected = [
        "crate::a::self",
        "crate::a::b::C",
        "crate::a::d",
        "crate::e",
        "super::g::H",
        "super::g::self",
        "crate::l::M",
        "self::n::o",
        "super::p::Q",
        "crate::z",
    ];
    assert_eq!(found, expected);
    let graph = |edges: &[(char, char)]| {
        let mut graph: BTreeMap<char, BTreeSet<char>> = BTreeMap::new();
        for (from, to) in edges {
            graph.entry(*from).or_default().insert(*to);
        }
        graph
    };
    assert_eq!(circles(&graph(&[('a', 'b'), ('b', 'c'), ('c', 'b'), ('a', 'd')])), [['b', 'c']]);
    assert!(circles(&graph(&[('a', 'b'), ('a', 'c'), ('b', 'c')])).is_empty());
}

//! The text of a statement: short enough to be looked at, and where its params stand.

use crate::sql::placeholder;
use crate::sql::placeholder::{Placeholder, Tokens};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// The longest statement that is looked at, in bytes.
pub const LONGEST: usize = 100_000;
/// Words and signs that a statement may have, and joins, each of which may have all columns of the others.
const TOKENS: usize = 20_000;
const JOINS: usize = 100;

/// The tokens of a text; `Err` says why it is not looked at.
pub fn tokens(sql: &str) -> Result<Tokens, String> {
    if sql.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    if sql.contains('\0') {
        return Err("it holds a null character".to_owned());
    }
    let tokens = placeholder::tokens(sql)?;
    let count = |counts: &dyn Fn(&Token) -> bool| tokens.tokens.iter().filter(|token| counts(&token.token)).count();
    let joins = count(&|token| matches!(token, Token::Word(word) if word.keyword == Keyword::JOIN));
    let words = count(&|token| !matches!(token, Token::Whitespace(_)));
    if joins > JOINS || words > TOKENS {
        return Err(format!("it has more than {TOKENS} words and signs or {JOINS} joins"));
    }
    Ok(tokens)
}

/// The places of the params in a statement; `Err` says why the server is not asked about it.
pub fn placeholders(sql: &str) -> Result<Vec<Placeholder>, String> {
    let tokens = tokens(sql)?;
    if !placeholder::says_something(&tokens.tokens) {
        return Err("there is no statement".to_owned());
    }
    let dollar = tokens.tokens.iter().find_map(|token| match &token.token {
        Token::Placeholder(name) if !name.starts_with(':') => Some(name),
        _ => None,
    });
    match dollar {
        Some(name) => Err(format!("{name} is no param: write :name, and name it under params")),
        None => Ok(tokens.placeholders),
    }
}

//! Options without the parts that match nothing.

use crate::catalog::globs::UnmatchedGlob;
use serde_json::Value;

/// Removes preferred tables and globs that match nothing, each glob given with similar names. An empty list of
/// inclusions would include every table, so a list that would become empty gets the similar names instead.
pub fn without_unmatched(options: &Value, preferred: &[String], unmatched: &[(UnmatchedGlob, Vec<String>)]) -> Value {
    let mut options = options.clone();
    if let Some(Value::Array(tables)) = options.get_mut("preferred_tables") {
        tables.retain(|table| !preferred.iter().any(|missing| *table == missing.as_str()));
    }
    for (one, _) in unmatched.iter().filter(|(one, _)| one.option != "include") {
        match options.get_mut(one.option) {
            Some(Value::Array(globs)) => globs.retain(|glob| *glob != one.glob.as_str()),
            Some(Value::Object(globs)) => drop(globs.remove(&one.glob)),
            _ => {}
        }
    }
    let included =
        |glob: &Value| unmatched.iter().find(|(one, _)| one.option == "include" && *glob == one.glob.as_str());
    if let Some(Value::Array(globs)) = options.get_mut("include") {
        if globs.iter().all(|glob| included(glob).is_some()) {
            for glob in globs.iter_mut() {
                let similar = included(glob).and_then(|(_, similar)| similar.first()).cloned();
                *glob = similar.map_or_else(|| glob.clone(), Value::from);
            }
        } else {
            globs.retain(|glob| included(glob).is_none());
        }
    }
    options
}

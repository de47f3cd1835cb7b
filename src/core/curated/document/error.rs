//! Messages for documents that the parser rejects.

use crate::catalog::identifier::{cut, shown};
use crate::curated::document::location::find;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::granit_parser::ErrorKind;
use serde_saphyr::{Budget, Error, ExternalMessageSource, MessageFormatter, UserMessageFormatter};

/// `datasource "shop", verified query "top" (line 12): duplicate key "id"`: the place as far as it is known, then the problem.
pub(super) fn describe(text: &str, error: &Error, budget: &Budget) -> String {
    let message = message(error, budget);
    let Some(location) = error.location() else { return message };
    let line = location.line();
    match find(text, (line, location.column())).to_string() {
        place if place.is_empty() => format!("line {line}: {message}"),
        place => format!("{place} (line {line}): {message}"),
    }
}

fn message(error: &Error, budget: &Budget) -> String {
    match error.without_snippet() {
        Error::AliasError { error, .. } => message(error, budget),
        Error::Budget { breach, .. } => breached(breach, budget),
        Error::AliasReplayLimitExceeded { max_total_replayed_events: most, .. } => {
            format!("its aliases expand to more than {most} nodes")
        }
        Error::AliasExpansionLimitExceeded { max_expansions_per_anchor: most, .. } => {
            format!("it has more than {most} aliases of one anchor")
        }
        Error::AliasReplayStackDepthExceeded { max_depth, .. } => format!("its aliases nest deeper than {max_depth}"),
        Error::MultipleDocuments { .. } => "it is more than one document".to_owned(),
        Error::NonFiniteFloat { value, .. } => format!("it must be a finite number, not {}", shown(value)),
        Error::Unexpected { expected: "mapping start", .. } => "it must be a mapping".to_owned(),
        Error::Unexpected { expected: "sequence start", .. } => "it must be a list".to_owned(),
        Error::Unexpected { expected: "string scalar", .. } => "it must be a string".to_owned(),
        Error::NullIntoString { .. } => "it must be a string, not null".to_owned(),
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key \"{}\"", shown(key)),
        Error::DuplicateMappingKey { key: None, .. } => "duplicate key".to_owned(),
        Error::SerdeUnknownField { field, expected, .. } => {
            format!("unknown field \"{}\", expected one of {}", shown(field), expected.join(", "))
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            format!("unknown value \"{}\", expected one of {}", shown(variant), expected.join(", "))
        }
        Error::SerdeMissingField { field, .. } => format!("missing field \"{field}\""),
        Error::ExternalMessage { source, .. } if nests(source) => deep(budget),
        other => cut(&UserMessageFormatter.format_message(other)).replace('\n', " "),
    }
}

/// Whether the scanner rejects a document for its depth before the budget does.
fn nests(source: &ExternalMessageSource) -> bool {
    matches!(source, ExternalMessageSource::Parser(error) if matches!(error.kind(), ErrorKind::RecursionLimitExceeded))
}

fn deep(budget: &Budget) -> String {
    format!("it nests deeper than {}", budget.max_depth)
}

fn breached(breach: &BudgetBreach, budget: &Budget) -> String {
    match breach {
        BudgetBreach::Depth { .. } => deep(budget),
        BudgetBreach::Nodes { .. } => format!("it has more than {} keys, values and lists", budget.max_nodes),
        BudgetBreach::Events { .. } => format!("it has more than {} parser events", budget.max_events),
        BudgetBreach::ScalarBytes { .. } => {
            format!("its strings are longer than {} MB, aliases expanded", budget.max_total_scalar_bytes >> 20)
        }
        BudgetBreach::Aliases { .. } => format!("it has more than {} aliases", budget.max_aliases),
        BudgetBreach::Anchors { .. } => format!("it has more than {} anchors", budget.max_anchors),
        BudgetBreach::AliasAnchorRatio { aliases, anchors } => {
            format!("it has too many aliases, {aliases} of {anchors} anchors")
        }
        BudgetBreach::RecordedAnchorEvents { .. } => {
            format!("its anchors hold more than {} parser events", budget.max_recorded_anchor_events)
        }
        BudgetBreach::RecordedAnchorBytes { .. } => {
            format!("its anchors hold more than {} MB", budget.max_recorded_anchor_bytes >> 20)
        }
        BudgetBreach::MergeKeys { .. } => format!("it has more than {} merge keys", budget.max_merge_keys),
        BudgetBreach::Documents { .. } => "it is more than one document".to_owned(),
        BudgetBreach::SequenceUnbalanced => "a list or mapping ends that did not start".to_owned(),
        // Limits of comments, included files and variables, which are not read.
        _ => "it exceeds a limit of the parser".to_owned(),
    }
}

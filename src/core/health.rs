//! Health of a datasource's index, judged by its contents.

use crate::catalog::globs::UnmatchedGlob;

/// From worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HealthStatus {
    /// No build is live in the current model's namespace.
    Missing,
    /// The live build has no entries.
    Empty,
    /// No live build while other datasources have one, or the live build's snapshot is gone.
    Stale,
    Ok,
}

impl HealthStatus {
    pub fn name(self) -> &'static str {
        match self {
            HealthStatus::Missing => "missing",
            HealthStatus::Empty => "empty",
            HealthStatus::Stale => "stale",
            HealthStatus::Ok => "ok",
        }
    }
}

/// What was observed about one datasource.
#[derive(Debug, Clone, Default)]
pub struct Observations {
    pub live: bool,
    /// Another datasource has a live build in the namespace.
    pub others_live: bool,
    pub entries: usize,
    pub snapshot_kept: bool,
    pub drifted: bool,
    /// Curated content has changed since the live build.
    pub curated_changed: bool,
    /// Some curated content does not fit the schema and was left out of the live build.
    pub curated_left_out: bool,
    /// None of the tables in scope exists, so that it cannot be built.
    pub without_tables: bool,
    /// Preferred tables that the live snapshot does not have.
    pub preferred_missing: Vec<String>,
    /// Schemas that do not exist, each with the name that it was probably renamed to.
    pub schemas_missing: Vec<(String, Option<String>)>,
    /// Globs of the options that match nothing, with similar names.
    pub unmatched: Vec<(UnmatchedGlob, Vec<String>)>,
    /// Its options exclude tables.
    pub scoped: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub status: HealthStatus,
    pub problems: Vec<String>,
    pub warnings: Vec<String>,
}

/// SQL calls that repair a datasource.
pub struct RemedyCalls {
    pub index: String,
    /// Registers other schemas.
    pub schemas: String,
    /// Removes from the options everything that matches nothing: one call, because options are replaced as a whole.
    pub options: String,
    /// Indexes curated content.
    pub curated: String,
    /// Lists the problems of curated content.
    pub validate: String,
}

/// Problems and warnings end with the call that repairs them. Warnings do not change the status.
pub fn judge(observed: &Observations, calls: &RemedyCalls) -> Verdict {
    let RemedyCalls { index, schemas, options, curated, validate } = calls;
    let (status, problem) = if !observed.live && !observed.others_live {
        (HealthStatus::Missing, Some("no build is live in the current namespace"))
    } else if !observed.live {
        (HealthStatus::Stale, Some("it has no live build, while other datasources do"))
    } else if observed.entries == 0 {
        (HealthStatus::Empty, Some("its live build has no entries"))
    } else if !observed.snapshot_kept {
        (HealthStatus::Stale, Some("the snapshot of its live build is gone"))
    } else {
        (HealthStatus::Ok, None)
    };
    let mut warnings = Vec::new();
    for (schema, renamed) in &observed.schemas_missing {
        let renamed = renamed.as_ref().map(|renamed| format!(", perhaps renamed to \"{renamed}\""));
        let renamed = renamed.unwrap_or_default();
        warnings.push(format!("schema \"{schema}\" does not exist{renamed}: SELECT {schemas};"));
    }
    if observed.without_tables && !observed.schemas_missing.is_empty() {
        // The missing schemas are reported already.
    } else if observed.without_tables {
        let call = if observed.scoped { options } else { schemas };
        warnings.push(format!("none of its tables exists: SELECT {call};"));
    } else if observed.drifted {
        warnings.push(format!("the structure has drifted since the live snapshot: SELECT {index};"));
    }
    if observed.curated_changed {
        warnings.push(format!("curated content has changed since it was indexed: SELECT {curated};"));
    }
    if observed.curated_left_out {
        warnings.push(format!("curated content does not fit the schema and is left out: SELECT * FROM {validate};"));
    }
    for table in &observed.preferred_missing {
        warnings.push(format!("preferred table {table} is not in the live snapshot: SELECT {options};"));
    }
    for (UnmatchedGlob { option, glob }, near) in &observed.unmatched {
        let near = if near.is_empty() { String::new() } else { format!(" (near it: {})", near.join(", ")) };
        warnings.push(format!("the glob {glob} of option {option} matches nothing{near}: SELECT {options};"));
    }
    Verdict {
        status,
        problems: problem.map(|problem| format!("{problem}: SELECT {index};")).into_iter().collect(),
        warnings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> Observations {
        Observations { live: true, others_live: true, entries: 9, snapshot_kept: true, ..Observations::default() }
    }

    fn calls() -> RemedyCalls {
        RemedyCalls {
            index: "i()".into(),
            schemas: "s()".into(),
            options: "o()".into(),
            curated: "c()".into(),
            validate: "v()".into(),
        }
    }

    fn status(observed: Observations) -> HealthStatus {
        let verdict = judge(&observed, &calls());
        assert_eq!(verdict.problems.is_empty(), verdict.status == HealthStatus::Ok);
        assert!(verdict.problems.iter().all(|problem| problem.ends_with("SELECT i();")));
        verdict.status
    }

    #[test]
    fn is_judged_by_contents() {
        assert_eq!(status(sound()), HealthStatus::Ok);
        assert_eq!(status(Observations { live: false, others_live: false, ..sound() }), HealthStatus::Missing);
        assert_eq!(status(Observations { live: false, ..sound() }), HealthStatus::Stale);
        assert_eq!(status(Observations { snapshot_kept: false, ..sound() }), HealthStatus::Stale);
        assert_eq!(status(Observations { entries: 0, ..sound() }), HealthStatus::Empty);
        assert!(
            HealthStatus::Missing < HealthStatus::Empty
                && HealthStatus::Empty < HealthStatus::Stale
                && HealthStatus::Stale < HealthStatus::Ok
        );
    }

    #[test]
    fn warnings_leave_the_status_alone() {
        let observed = Observations { drifted: true, preferred_missing: vec!["a.b".into()], ..sound() };
        let verdict = judge(&observed, &calls());
        assert_eq!(verdict.status, HealthStatus::Ok);
        assert!(verdict.warnings[0].ends_with("SELECT i();"));
        assert!(verdict.warnings[1].contains("a.b") && verdict.warnings[1].ends_with("SELECT o();"));
        let verdict = judge(&Observations { without_tables: true, drifted: true, ..sound() }, &calls());
        assert_eq!(verdict.warnings, ["none of its tables exists: SELECT s();"]);
        let verdict = judge(&Observations { without_tables: true, scoped: true, ..sound() }, &calls());
        assert_eq!(verdict.warnings, ["none of its tables exists: SELECT o();"]);
        let gone = vec![("a".into(), Some("b".into())), ("c".into(), None)];
        let verdict = judge(&Observations { without_tables: true, schemas_missing: gone, ..sound() }, &calls());
        assert_eq!(
            verdict.warnings,
            [
                "schema \"a\" does not exist, perhaps renamed to \"b\": SELECT s();",
                "schema \"c\" does not exist: SELECT s();"
            ]
        );
        let unmatched = UnmatchedGlob { option: "include", glob: "a.*".into() };
        let observed = Observations { unmatched: vec![(unmatched, vec!["aa.b".into()])], ..sound() };
        assert_eq!(
            judge(&observed, &calls()).warnings,
            ["the glob a.* of option include matches nothing (near it: aa.b): SELECT o();"]
        );
    }
}

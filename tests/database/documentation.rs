//! The manual against the extension: each SQL block of README.md and docs/ runs, and prints what the page shows; the
//! reference has every function, view and setting, with the signature that the server has; links and files exist.
//!
//! A page that has SQL blocks begins with `<!-- doc test: demo -->`: its blocks run in order, in one psql session, in a
//! database of its own that holds the demo (or `<!-- doc test: empty -->`: nothing). A `text` block after a `sql` block
//! is the output of psql, without spaces at the end of a line. Numbers with three or more decimals may differ by 0.001. A
//! block without output must not fail. A block after `<!-- doc test: skip: REASON -->` does not run; `run.sh` lists
//! these.
//!
//! `NL2SQL_REWRITE_DOCS=1` writes the outputs into the pages instead of comparing them: read the difference.

use nl2sql_tests::{Database, text};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MARKER: &str = "<!-- doc test: ";
const SKIP: &str = "<!-- doc test: skip: ";

/// A page as lines, with the SQL blocks that run.
struct Page {
    path: PathBuf,
    lines: Vec<String>,
}

/// Line numbers of a block's SQL and of the output that the page shows for it, both without the fences.
struct Example {
    sql: std::ops::Range<usize>,
    output: Option<std::ops::Range<usize>>,
}

impl Page {
    fn read(path: PathBuf) -> Self {
        let content = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, lines: content.lines().map(str::to_owned).collect() }
    }

    /// All Markdown files of the manual.
    fn all() -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut paths = vec![root.join("README.md")];
        for folder in ["docs", "docs/reference"] {
            let entries = std::fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
            paths.extend(
                entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension() == Some("md".as_ref())),
            );
        }
        paths.sort();
        paths.into_iter().map(Self::read).collect()
    }

    fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn examples(&self) -> Vec<Example> {
        let mut examples = Vec::new();
        let mut line = 0;
        while let Some(start) = self.find(line, |one| one == "```sql") {
            let end = self.find(start, |one| one == "```").expect("the end of a block");
            line = end + 1;
            if start > 0 && self.lines[start - 1].starts_with(SKIP) {
                continue;
            }
            let next = self.find(line, |one| !one.is_empty()).filter(|next| self.lines[*next] == "```text");
            let output =
                next.map(|fence| fence + 1..self.find(fence + 1, |one| one == "```").expect("the end of a block"));
            examples.push(Example { sql: start + 1..end, output });
        }
        examples
    }

    fn find(&self, from: usize, matches: impl Fn(&str) -> bool) -> Option<usize> {
        (from..self.lines.len()).find(|line| matches(&self.lines[*line]))
    }

    /// Runs the page's blocks in one session, and returns what each prints.
    fn run(&self, examples: &[Example]) -> Vec<Vec<String>> {
        let kind = self.lines[0].strip_prefix(MARKER).and_then(|rest| rest.strip_suffix(" -->"));
        let database = match kind {
            Some("demo") => Database::demo(),
            Some("empty") => Database::blank(),
            _ => {
                panic!("{}: the first line must be \"{MARKER}demo -->\" or \"{MARKER}empty -->\"", self.path.display())
            }
        };
        let mut script = String::new();
        for example in examples {
            script.push_str(&self.lines[example.sql.clone()].join("\n"));
            script.push_str("\n\\echo @@end of block\n");
        }
        let printed = psql(&database, &script);
        let mut outputs = vec![Vec::new()];
        for line in printed.lines() {
            match line {
                "@@end of block" => outputs.push(Vec::new()),
                _ => outputs.last_mut().expect("an output").push(line.trim_end().to_owned()),
            }
        }
        outputs.truncate(examples.len());
        for output in &mut outputs {
            while output.last().is_some_and(String::is_empty) {
                output.pop();
            }
        }
        assert_eq!(outputs.len(), examples.len(), "{}: psql ended early:\n{printed}", self.path.display());
        outputs
    }

    /// What differs between the page and the server, an entry for each block.
    fn differences(&self) -> Vec<String> {
        let examples = self.examples();
        if examples.is_empty() {
            return Vec::new();
        }
        let mut differences = Vec::new();
        for (example, printed) in examples.iter().zip(self.run(&examples)) {
            let place = format!("{}:{}", self.path.display(), example.sql.start);
            match &example.output {
                Some(output) if !same_output(&self.lines[output.clone()], &printed) => {
                    differences.push(format!("{place}\n{}", difference(&self.lines[output.clone()], &printed)));
                }
                None if printed.iter().any(|line| line.starts_with("ERROR:")) => {
                    differences.push(format!("{place}: psql prints\n{}", printed.join("\n")));
                }
                _ => {}
            }
        }
        differences
    }

    fn rewrite(&self) {
        let examples = self.examples();
        let mut lines = self.lines.clone();
        if !examples.is_empty() {
            // From the last to the first, so that line numbers stay right.
            for (example, printed) in examples.iter().zip(self.run(&examples)).rev() {
                if let Some(output) = &example.output {
                    lines.splice(output.clone(), printed);
                }
            }
            std::fs::write(&self.path, lines.join("\n") + "\n").expect("writing the page");
        }
    }

    /// The anchors that GitHub makes of the headings.
    fn anchors(&self) -> Vec<String> {
        self.lines
            .iter()
            .filter_map(|line| line.strip_prefix('#'))
            .map(|heading| {
                let heading = heading.trim_start_matches('#').trim().to_lowercase();
                heading
                    .chars()
                    .filter(|one| one.is_alphanumeric() || " -_".contains(*one))
                    .map(|one| if one == ' ' { '-' } else { one })
                    .collect()
            })
            .collect()
    }

    fn links(&self) -> Vec<&str> {
        self.lines
            .iter()
            .flat_map(|line| line.split("](").skip(1))
            .filter_map(|rest| rest.split_once(')'))
            .map(|(target, _)| target)
            .collect()
    }
}

/// Whether psql printed what the page shows. A number with three or more decimals may differ by 0.001: similarities depend
/// on the processor in their last digits, and 0.5575 may round either way. Everything else must be equal.
fn same_output(page: &[String], printed: &[String]) -> bool {
    page.len() == printed.len() && page.iter().zip(printed).all(|(page, printed)| same_line(page, printed))
}

fn same_line(page: &str, printed: &str) -> bool {
    let pieces = |line: &str| -> Vec<String> {
        let mut pieces: Vec<String> = Vec::new();
        let mut of_number = false;
        for one in line.chars() {
            let in_number = one.is_ascii_digit() || one == '.';
            match pieces.last_mut() {
                Some(last) if in_number == of_number => last.push(one),
                _ => pieces.push(one.to_string()),
            }
            of_number = in_number;
        }
        pieces
    };
    let measured = |piece: &str| -> Option<f64> {
        let (_, decimals) = piece.split_once('.')?;
        if decimals.len() < 3 { None } else { piece.parse().ok() }
    };
    let (page, printed) = (pieces(page), pieces(printed));
    page.len() == printed.len() && page.iter().zip(&printed).all(|(page, printed)| {
        page == printed
            || matches!((measured(page), measured(printed)), (Some(one), Some(other)) if (one - other).abs() < 0.0011)
    })
}

/// The lines of both, as a diff that keeps the common lines at the start and at the end apart.
fn difference(page: &[String], printed: &[String]) -> String {
    let start = page.iter().zip(printed).take_while(|(page, printed)| same_line(page, printed)).count();
    let end = page[start..].iter().rev().zip(printed[start..].iter().rev());
    let end = end.take_while(|(page, printed)| same_line(page, printed)).count();
    let marked = |mark: &'static str, lines: &[String]| -> Vec<String> {
        lines.iter().map(|line| format!("{mark}{line}")).collect()
    };
    let mut lines = marked(" ", &page[..start]);
    lines.extend(marked("-", &page[start..page.len() - end]));
    lines.extend(marked("+", &printed[start..printed.len() - end]));
    lines.extend(marked(" ", &page[page.len() - end..]));
    lines.join("\n")
}

#[test]
fn only_measured_numbers_may_differ_and_by_little() {
    let same = |page: &str, printed: &str| same_output(&[page.to_owned()], &[printed.to_owned()]);
    assert!(same(" shop | 0.558", " shop | 0.559"));
    assert!(!same(" shop | 0.558", " shop | 0.560"));
    assert!(!same(" shop | 0.55", " shop | 0.56"));
    assert!(!same(" shop | 7", " shop | 8"));
    assert!(!same(" shop | 0.558", " demo | 0.558"));
    assert!(!same(" shop | 1.558", " shop | 0.558"));
    assert!(!same_output(&["a".to_owned()], &[]));
    assert_eq!(
        difference(&["a".into(), "b".into(), "d".into()], &["a".into(), "c".into(), "d".into()]),
        " a\n-b\n+c\n d"
    );
}

fn psql(database: &Database, script: &str) -> String {
    let bin =
        Command::new(std::env::var_os("PG_CONFIG").expect("PG_CONFIG")).arg("--bindir").output().expect("pg_config");
    let bin = String::from_utf8(bin.stdout).expect("a path");
    // One pipe for both, so that errors stand where they happen.
    let mut child = Command::new("sh")
        .args(["-c", "exec \"$0\" -X -P pager=off -v SHOW_CONTEXT=never 2>&1"])
        .arg(Path::new(bin.trim_end()).join("psql"))
        .env("PGHOST", std::env::var_os("NL2SQL_TEST_CLUSTER").expect("NL2SQL_TEST_CLUSTER"))
        .envs([("PGUSER", "postgres"), ("PGDATABASE", &database.name), ("PGTZ", "UTC"), ("LC_ALL", "C.UTF-8")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("psql");
    child.stdin.take().expect("stdin").write_all(script.as_bytes()).expect("writing to psql");
    let output = child.wait_with_output().expect("psql");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn examples_print_what_the_pages_show() {
    let pages = Page::all();
    assert!(pages.iter().map(|page| page.examples().len()).sum::<usize>() > 40, "the blocks are not found");
    let rewrite = std::env::var_os("NL2SQL_REWRITE_DOCS").is_some();
    let differences: Vec<String> = std::thread::scope(|scope| {
        // Two sessions at a time, since each loads the model and other tests run beside them.
        let running: Vec<_> = pages
            .chunks(pages.len().div_ceil(2))
            .map(|half| {
                let visit = move |page: &Page| {
                    if rewrite {
                        page.rewrite();
                        return Vec::new();
                    }
                    page.differences()
                };
                scope.spawn(move || half.iter().flat_map(visit).collect::<Vec<String>>())
            })
            .collect();
        running.into_iter().flat_map(|one| one.join().expect("the pages")).collect()
    });
    assert!(
        differences.is_empty(),
        "{}\n\nNL2SQL_REWRITE_DOCS=1 tests/support/with-env.sh tests/run.sh documentation writes what psql prints",
        differences.join("\n\n")
    );
}

/// Without spaces beside brackets and line ends, and without the casts of defaults.
const SIGNATURES: &str = r"
    SELECT jsonb_agg(p.proname || '(' || regexp_replace(pg_get_function_arguments(p.oid), '::[a-z ]+(\[\])?', '', 'g')
                     || ') RETURNS ' || replace(pg_get_function_result(p.oid), 'timestamp with time zone', 'timestamptz') ORDER BY p.proname)
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'nl2sql'
    WHERE p.pronamespace = e.extnamespace";

#[test]
fn the_reference_has_every_function_with_its_signature() {
    let mut client = Database::demo().connect();
    let signatures: Vec<String> =
        serde_json::from_str(&text(&mut client, &format!("({SIGNATURES})")).unwrap()).unwrap();
    assert!(signatures.len() > 25, "{signatures:?}");
    let plain = |signature: &str| {
        let spaced: Vec<&str> = signature.split_whitespace().collect();
        spaced.join(" ").replace("( ", "(").replace(" )", ")").replace("TABLE (", "TABLE(")
    };
    let pages: Vec<Page> =
        Page::all().into_iter().filter(|page| page.path.to_string_lossy().contains("/reference/")).collect();
    let all = plain(&pages.iter().flat_map(|page| page.lines.clone()).collect::<Vec<_>>().join("\n"));
    for signature in signatures {
        let name = signature.split('(').next().unwrap_or_default();
        let in_heading =
            |line: &String| line.starts_with("## ") && line[3..].split([',', ' ']).any(|word| word == name);
        assert!(pages.iter().any(|page| page.lines.iter().any(in_heading)), "no heading for {name}");
        // An explain function takes the arguments of its twin, as its chapter says.
        if !name.ends_with("_explain") {
            assert!(all.contains(&plain(&signature)), "the reference lacks: {signature}");
        }
    }
}

#[test]
fn the_manual_has_every_view_and_setting() {
    let mut client = Database::demo().connect();
    client.batch_execute("LOAD 'nl2sql'").unwrap();
    let names = "(SELECT jsonb_agg(name) FROM (
        SELECT 'nl2sql.' || c.relname FROM pg_class c WHERE c.relnamespace = 'nl2sql'::regnamespace AND c.relkind = 'v'
            AND c.relname <> 'readable_column'
        UNION ALL SELECT s.name FROM pg_settings s WHERE s.name LIKE 'nl2sql.%') n (name))";
    let names: Vec<String> = serde_json::from_str(&text(&mut client, names).unwrap()).unwrap();
    assert!(names.len() > 10, "{names:?}");
    let all: String = Page::all().iter().map(|page| page.lines.join("\n")).collect();
    for name in names {
        assert!(all.contains(&format!("`{name}`")), "the manual lacks {name}");
    }
}

#[test]
fn links_lead_to_pages_and_headings() {
    let pages = Page::all();
    let mut seen = 0;
    for page in &pages {
        for link in page.links().into_iter().filter(|link| !link.contains("://")) {
            seen += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.path.clone() } else { page.path.parent().unwrap().join(file) };
            let target = target.canonicalize().unwrap_or_else(|error| panic!("{}: {link}: {error}", page.name()));
            if !anchor.is_empty() {
                let anchors = Page::read(target).anchors();
                assert!(anchors.iter().any(|one| one == anchor), "{}: {link}: no such heading", page.name());
            }
        }
    }
    assert!(seen > 20, "the links are not found");
}

/// The way of the data names files below `src`, without `src`.
#[test]
fn the_files_that_the_manual_names_exist() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let pages = Page::all();
    let code = pages.iter().flat_map(|page| &page.lines).flat_map(|line| line.split('`').skip(1).step_by(2));
    let files: Vec<&str> = code.filter(|one| one.ends_with(".rs") && one.contains('/')).collect();
    assert!(files.len() > 30, "{files:?}");
    for file in files {
        assert!(source.join(file).exists(), "src/{file} does not exist");
    }
}

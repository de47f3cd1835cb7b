//! A server process as the kernel sees it. Tests run as root or as the server's user, so they may read its files in
//! /proc.

use crate::{Cluster, text};
use postgres::Client;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub fn backend(client: &mut Client) -> u32 {
    text(client, "pg_backend_pid()").expect("a process").parse().expect("a number")
}

pub fn postmaster(cluster: &Cluster) -> u32 {
    let file = std::fs::read_to_string(cluster.dir().join("data/postmaster.pid")).expect("postmaster.pid");
    file.lines().next().expect("a first line").parse().expect("a number")
}

/// KiB that the process shares with no other, modified or only read.
#[derive(Clone, Copy)]
pub struct Private {
    /// Private whatever other processes do.
    pub dirty: u64,
    clean: u64,
}

impl Private {
    pub fn total(self) -> u64 {
        self.dirty + self.clean
    }
}

impl std::fmt::Display for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} KiB ({} dirty, {} clean)", self.total(), self.dirty, self.clean)
    }
}

/// What only this process has mapped, without the server's shared memory: its pages are shared even if no other process
/// has touched them yet.
pub fn private(pid: u32) -> Private {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/smaps")).expect("smaps");
    let (mut found, mut shared) = (Private { dirty: 0, clean: 0 }, false);
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (name, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if !name.ends_with(':') {
            shared = value.ends_with('s'); // a mapping's first line: its addresses, its rights
        } else if !shared && name == "Private_Dirty:" {
            found.dirty += value.parse::<u64>().expect("a number");
        } else if !shared && name == "Private_Clean:" {
            found.clean += value.parse::<u64>().expect("a number");
        }
    }
    found
}

pub fn threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process's threads").count()
}

/// Files that the process has mapped into its memory.
pub fn mapped(pid: u32) -> BTreeSet<String> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("maps");
    maps.lines().filter_map(|line| line.find('/').map(|at| line[at..].to_owned())).collect()
}

/// Files that the process may write to, except the server's own: relations, WAL and log.
pub fn writable_files(pid: u32, cluster: &Cluster) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for descriptor in std::fs::read_dir(format!("/proc/{pid}/fd")).expect("open files") {
        let descriptor = descriptor.expect("an open file");
        let number = descriptor.file_name().into_string().expect("a number");
        // Closed meanwhile, as a relation's file may be.
        let Ok(target) = std::fs::read_link(descriptor.path()) else { continue };
        let Ok(info) = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")) else { continue };
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).expect("flags");
        let flags = u32::from_str_radix(flags.trim(), 8).expect("an octal number");
        let may_write = flags & 3 != 0;
        let is_file = target.is_absolute() && !target.starts_with("/dev");
        if may_write && is_file && !belongs_to_server(&target, cluster) {
            found.insert(target);
        }
    }
    found
}

/// Files where a library would store something for the server's user: its home directory, from the environment and from
/// the user database, and the first level of the temporary directories.
pub fn kept_files(cluster: &Cluster, pid: u32) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    below(cluster.dir(), usize::MAX, &mut found);
    found.retain(|file| !belongs_to_server(file, cluster));
    below(&home_of(pid).join(".cache"), usize::MAX, &mut found);
    below(&home_of(pid).join(".config"), usize::MAX, &mut found);
    let user = user_of(pid);
    let mut temporary = BTreeSet::new();
    below(Path::new("/tmp"), 1, &mut temporary);
    below(Path::new("/var/tmp"), 1, &mut temporary);
    temporary.retain(|file| owner(file) == Some(user));
    found.extend(temporary);
    found
}

fn belongs_to_server(file: &Path, cluster: &Cluster) -> bool {
    let data = cluster.dir().join("data");
    file == cluster.dir().join("log")
        || [
            "base",
            "global",
            "pg_wal",
            "pg_xact",
            "pg_subtrans",
            "pg_multixact",
            "pg_stat",
            "pg_stat_tmp",
            "pg_logical",
        ]
        .iter()
        .any(|own| file.starts_with(data.join(own)))
}

fn below(directory: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                if depth > 1 {
                    below(&entry.path(), depth - 1, found);
                }
            }
            _ => {
                found.insert(entry.path());
            }
        }
    }
}

fn owner(file: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(file).ok().map(|metadata| metadata.uid())
}

fn user_of(pid: u32) -> u32 {
    owner(Path::new(&format!("/proc/{pid}"))).expect("the process's user")
}

fn home_of(pid: u32) -> PathBuf {
    let user = user_of(pid).to_string();
    let users = std::fs::read_to_string("/etc/passwd").expect("/etc/passwd");
    let line = users.lines().find(|line| line.split(':').nth(2) == Some(&user)).expect("the server's user");
    line.split(':').nth(5).expect("a home directory").into()
}

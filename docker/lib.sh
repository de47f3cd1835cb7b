# shellcheck shell=bash disable=SC2034
# What the scripts in this folder share: messages, finding a Postgres, checking hashes, becoming root.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$ROOT/build
CACHE=${NL2SQL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nl2sql}

# The file name that the installed library looks for, see src/embed.
RUNTIME_FILE=libonnxruntime.so.1.24.4
OLDEST_MAJOR=15
NEWEST_MAJOR=18

say() { printf 'nl2sql: %s\n' "$*"; }

die() {
    printf 'nl2sql: error: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf '        %s\n' "$@" >&2
    exit 1
}

can_be_root() { [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null; }

# Runs a command as root: as it stands if we are, through sudo if there is one.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "this needs root, and there is no sudo. As root, run:" "$(printf '%q ' "$@")"
    fi
}

# Like as_root, but only where the directory (or the nearest one above it that exists) is not ours to write.
as_writer_of() {
    local dir=$1
    shift
    while [ ! -e "$dir" ]; do dir=$(dirname "$dir"); done
    if [ -w "$dir" ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "$dir is not writable for $(id -un), and there is no sudo." \
            "Run the same command as a user who may write there."
    fi
}

sha256_of() { sha256sum "$1" | cut -d' ' -f1; }

check_sha256() {
    local file=$1 expected=$2 found
    [ -f "$file" ] || die "$file is missing"
    found=$(sha256_of "$file")
    [ "$found" = "$expected" ] || die "wrong SHA-256" \
        "file:     $file" "expected: $expected" "found:    $found" \
        "Nothing was used of it. If the file is damaged, remove it and run this again."
}

major_of() { "$1" --version 2>/dev/null | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p'; }

has_server_headers() { [ -f "$("$1" --includedir-server)/postgres.h" ]; }

# The pg_config of the newest supported Debian server; with `headers`, of those that have server headers.
newest_debian_pg_config() {
    local major pg_config
    for ((major = NEWEST_MAJOR; major >= OLDEST_MAJOR; major--)); do
        pg_config=/usr/lib/postgresql/$major/bin/pg_config
        # Debian ships pg_config with the client; the headers are in another package.
        [ -x "$pg_config" ] || continue
        [ "${1:-}" != headers ] || has_server_headers "$pg_config" || continue
        echo "$pg_config"
        return
    done
    return 1
}

# Sets PG_CONFIG (the caller's, else the newest with headers), PG_MAJOR, PG_BIN, PG_LIB and PG_SHARE.
use_postgres() {
    if [ -z "${PG_CONFIG:-}" ]; then
        PG_CONFIG=$(newest_debian_pg_config headers) ||
            die "no Postgres $OLDEST_MAJOR to $NEWEST_MAJOR with server headers was found." \
                "Run 'make setup', or name one: PG_CONFIG=/path/to/pg_config"
    fi
    command -v "$PG_CONFIG" >/dev/null || die "PG_CONFIG names no program: $PG_CONFIG"
    PG_CONFIG=$(realpath "$(command -v "$PG_CONFIG")")
    PG_MAJOR=$(major_of "$PG_CONFIG")
    [ -n "$PG_MAJOR" ] || die "$PG_CONFIG does not say which PostgreSQL it belongs to"
    ((PG_MAJOR >= OLDEST_MAJOR && PG_MAJOR <= NEWEST_MAJOR)) ||
        die "$PG_CONFIG belongs to Postgres $PG_MAJOR; nl2sql supports $OLDEST_MAJOR to $NEWEST_MAJOR"
    PG_BIN=$("$PG_CONFIG" --bindir)
    PG_LIB=$("$PG_CONFIG" --pkglibdir)
    PG_SHARE=$("$PG_CONFIG" --sharedir)
    export PG_CONFIG PG_MAJOR PG_BIN PG_LIB PG_SHARE
}

# Writes the install script of the current version from sql/install/ and prints its path.
write_install_script() {
    local version script
    version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" "$ROOT/nl2sql.control")
    script=$BUILD/nl2sql--$version.sql
    mkdir -p "$BUILD"
    (LC_ALL=C && cat "$ROOT"/sql/install/*.sql) >"$script.$$"
    mv "$script.$$" "$script"
    echo "$script"
}

# Builds the extension and the model tool for PG_MAJOR, in one go: built one after the other they would enable different
# features of the crates that they share, and compile those twice.
build_all() {
    local quiet=--quiet
    [ ! -t 2 ] || quiet=
    command -v cargo >/dev/null || die "cargo was not found." \
        "nl2sql builds with Rust 1.95 or later; install a toolchain (the set-up installs none) and put cargo on PATH."
    say "building for Postgres $PG_MAJOR with cargo (some minutes the first time)"
    (cd "$ROOT" && PGRX_PG_CONFIG_PATH=$PG_CONFIG cargo build $quiet --release \
        -p nl2sql -p nl2sql_model --features "nl2sql/pg$PG_MAJOR")
    RELEASE=${CARGO_TARGET_DIR:-$ROOT/target}/release
}

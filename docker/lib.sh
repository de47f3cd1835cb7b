# shellcheck shell=bash disable=SC2034
# What the scripts of this project share: messages, finding a Postgres, checking hashes, becoming root.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$ROOT/build
CACHE=${NL2SQL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nl2sql}

# File name of the ONNX Runtime library that the extension looks for, see src/pg/server/settings.rs.
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

# Runs a command as root: directly if we are root, otherwise with sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "this needs root, and sudo was not found. As root, run:" "$(printf '%q ' "$@")"
    fi
}

# Runs a command as the current user if the directory, or its nearest existing parent, is writable; otherwise with sudo.
as_writer_of() {
    local dir=$1
    shift
    while [ ! -e "$dir" ]; do dir=$(dirname "$dir"); done
    if [ -w "$dir" ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "$dir is not writable for $(id -un), and sudo was not found." \
            "Run the same command as a user who can write there."
    fi
}

sha256_of() { sha256sum "$1" | cut -d' ' -f1; }

check_sha256() {
    local file=$1 expected=$2 found
    [ -f "$file" ] || die "$file is missing"
    found=$(sha256_of "$file")
    [ "$found" = "$expected" ] || die "wrong SHA-256" \
        "file:     $file" "expected: $expected" "found:    $found" \
        "The file was not used. If it is damaged, remove it and run this command again."
}

major_of() { "$1" --version 2>/dev/null | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p'; }

has_server_headers() { [ -f "$("$1" --includedir-server)/postgres.h" ]; }

# The pg_config of the newest supported Debian server. With `headers`, considers only servers with server headers.
newest_debian_pg_config() {
    local major pg_config
    for ((major = NEWEST_MAJOR; major >= OLDEST_MAJOR; major--)); do
        pg_config=/usr/lib/postgresql/$major/bin/pg_config
        # Debian ships pg_config with the client, and the headers in another package.
        [ -x "$pg_config" ] || continue
        [ "${1:-}" != headers ] || has_server_headers "$pg_config" || continue
        echo "$pg_config"
        return
    done
    return 1
}

# Sets PG_CONFIG (unless the caller set it: the newest server with headers), PG_MAJOR, PG_BIN, PG_LIB and PG_SHARE.
use_postgres() {
    if [ -z "${PG_CONFIG:-}" ]; then
        PG_CONFIG=$(newest_debian_pg_config headers) ||
            die "no Postgres $OLDEST_MAJOR to $NEWEST_MAJOR with server headers was found." \
                "Run 'make setup', or specify one: PG_CONFIG=/path/to/pg_config"
    fi
    command -v "$PG_CONFIG" >/dev/null || die "PG_CONFIG is not a program: $PG_CONFIG"
    PG_CONFIG=$(realpath "$(command -v "$PG_CONFIG")")
    PG_MAJOR=$(major_of "$PG_CONFIG")
    [ -n "$PG_MAJOR" ] || die "$PG_CONFIG --version does not report a PostgreSQL version"
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

# Builds the extension and the model tool for PG_MAJOR in one command. Separate commands would enable different features
# of the crates that both use, and compile these twice.
build_all() {
    local quiet=--quiet
    [ ! -t 2 ] || quiet=
    command -v cargo >/dev/null || die "cargo was not found." \
        "nl2sql needs Rust 1.95 or later. Install a toolchain, which make setup does not do, and add cargo to PATH."
    say "building for Postgres $PG_MAJOR with cargo (a few minutes the first time)"
    (cd "$ROOT" && PGRX_PG_CONFIG_PATH=$PG_CONFIG cargo build $quiet --release \
        -p nl2sql -p nl2sql_model --features "nl2sql/pg$PG_MAJOR")
    RELEASE=${CARGO_TARGET_DIR:-$ROOT/target}/release
}

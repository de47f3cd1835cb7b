#!/usr/bin/env bash
# Checks formatting, code, scripts, and the install script. Called by `make lint`, which has set up what is needed.
# Fails at the end if any check failed, so that one run shows everything.
set -uo pipefail
# shellcheck source=docker/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../docker/lib.sh"
cd "$ROOT" || exit 1

failed=0
check() {
    local name=$1
    shift
    say "lint: $name"
    "$@" || { say "lint: $name: FAILED"; failed=1; }
}

# With --release, clippy shares build scripts and procedural macros with the build.
# shellcheck disable=SC2317  # called by check
clippy() {
    PGRX_PG_CONFIG_PATH=$PG_CONFIG cargo clippy --quiet --release --locked --workspace --all-targets --keep-going \
        --features "nl2sql/pg$PG_MAJOR" -- -D warnings
}

use_postgres
script=$(write_install_script) || exit 1
mapfile -t scripts < <(find .ci/run docker tests sql -name '*.sh' -o -path .ci/run | sort)
check "rustfmt" cargo fmt --all --check
check "clippy" clippy
check "shellcheck" shellcheck --external-sources "${scripts[@]}"
check "pgspot" "$BUILD/lint/bin/pgspot" "$script"
exit "$failed"

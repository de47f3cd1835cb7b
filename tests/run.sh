#!/usr/bin/env bash
# Runs every test and ends with one line that counts them. Called by `make test`, which has installed the extension into
# the Postgres of PG_CONFIG before.
#
#   run.sh [NAME]   only the suites whose name holds NAME
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
only=${1:-}
passed=0 failed=0
work=$(mktemp -d /tmp/nl2sql-run.XXXXXX)
export NL2SQL_TEST_CLUSTER=$work/c
chmod 755 "$work"
trap 'docker/cluster.sh remove "$NL2SQL_TEST_CLUSTER" 2>/dev/null; rm -rf "$work"' EXIT

# Adds the counts of cargo's closing lines; a suite that does not build counts as one failure.
cargo_suite() {
    local name=$1 log=$work/$1.log status
    shift
    [[ $name == *$only* ]] || return 0
    echo "== $name"
    cargo test --release --locked --quiet "$@" >"$log" 2>&1
    status=$?
    local ok bad
    ok=$(sed -n 's/^test result: .* \([0-9]*\) passed;.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
    bad=$(sed -n 's/^test result: .* \([0-9]*\) failed;.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
    if [ "$status" -ne 0 ]; then cat "$log"; fi
    echo "   $ok passed, $bad failed"
    passed=$((passed + ok)) failed=$((failed + bad))
}

# A SQL file against its expected output, in a database of its own.
regress() {
    local file name database
    for file in tests/regress/sql/*.sql; do
        name=$(basename "$file" .sql)
        [[ regress/$name == *$only* ]] || continue
        database=regress_$name
        local psql=("$PG_BIN/psql" -h "$NL2SQL_TEST_CLUSTER" -U postgres -X -q)
        "${psql[@]}" -d postgres -c "CREATE DATABASE $database TEMPLATE template0"
        "${psql[@]}" -d "$database" -a -f "$file" >"$work/$name.out" 2>&1
        if diff -u "tests/regress/expected/$name.out" "$work/$name.out"; then
            echo "== regress/$name: as expected"
            passed=$((passed + 1))
        else
            cp "$work/$name.out" "build/$name.out"
            echo "== regress/$name: differs (what came is in build/$name.out)"
            failed=$((failed + 1))
        fi
    done
}

PG_BIN=$("$PG_CONFIG" --bindir)
# Without autovacuum, which would refresh row estimates, and so make a new snapshot, at a moment of its own.
docker/cluster.sh start "$NL2SQL_TEST_CLUSTER" -c max_connections=100 -c autovacuum=off || exit 1
# The demo's database is the template of the tests that want one with an index.
"$PG_BIN/createdb" -h "$NL2SQL_TEST_CLUSTER" -U postgres nl2sql_demo || exit 1
"$PG_BIN/psql" -h "$NL2SQL_TEST_CLUSTER" -U postgres -d nl2sql_demo -X -q -v ON_ERROR_STOP=1 -o /dev/null \
    -f sql/demo/chinook.sql -f sql/demo/helpdesk.sql -f sql/demo/webshop.sql -f sql/demo/questions.sql || exit 1

cargo_suite core -p nl2sql_core
cargo_suite embed -p nl2sql_embed
cargo_suite model -p nl2sql_model
regress
for file in tests/tests/*.rs; do
    cargo_suite "$(basename "$file" .rs)" -p nl2sql_tests --test "$(basename "$file" .rs)"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Runs every test and ends with one line that counts them. Called by `make test`, which has installed the extension into
# the Postgres of PG_CONFIG before.
#
#   run.sh [NAME]   only the suites whose name holds NAME; of the others, the tests whose name holds it
#
# NL2SQL_TEST_THREADS sets how many tests of one suite run at the same time (default: the number of processors).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
only=${1:-}
passed=0 failed=0
work=$(mktemp -d /tmp/nl2sql-run.XXXXXX)
export NL2SQL_TEST_CLUSTER=$work/c
chmod 755 "$work"
trap 'tests/support/cluster.sh remove "$NL2SQL_TEST_CLUSTER" 2>/dev/null; rm -rf "$work"' EXIT

# report NAME PASSED FAILED STARTED
report() {
    printf '== %-24s %4d passed, %d failed, %d s\n' "$1" "$2" "$3" $((SECONDS - $4))
    passed=$((passed + $2)) failed=$((failed + $3))
}

# Adds the counts of cargo's closing lines; a suite that does not build, or ends early, counts as one failure.
cargo_suite() {
    local name=$1 log=$work/$1.log filter=() status ok bad started=$SECONDS
    shift
    [[ $name == *"$only"* ]] || filter=("$only")
    cargo test --release --locked --quiet "$@" -- "${filter[@]}" \
        ${NL2SQL_TEST_THREADS:+--test-threads="$NL2SQL_TEST_THREADS"} >"$log" 2>&1
    status=$?
    ok=$(sed -n 's/^test result: .* \([0-9]*\) passed;.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
    bad=$(sed -n 's/^test result: .* \([0-9]*\) failed;.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
    if [ "$status" -ne 0 ]; then cat "$log"; fi
    if [ $((ok + bad)) -gt 0 ]; then report "$name" "$ok" "$bad" "$started"; fi
}

# A SQL file against its expected output, in a database of its own.
regress() {
    local file name database started
    for file in tests/regress/sql/*.sql; do
        name=$(basename "$file" .sql)
        [[ regress/$name == *"$only"* ]] || continue
        started=$SECONDS
        database=regress_$name
        local psql=("$PG_BIN/psql" -h "$NL2SQL_TEST_CLUSTER" -U postgres -X -q)
        "${psql[@]}" -d postgres -c "CREATE DATABASE $database TEMPLATE template0"
        "${psql[@]}" -d "$database" -a -f "$file" >"$work/$name.out" 2>&1
        if diff -u "tests/regress/expected/$name.out" "$work/$name.out"; then
            report "regress/$name" 1 0 "$started"
        else
            cp "$work/$name.out" "build/$name.out"
            echo "   the output is in build/$name.out"
            report "regress/$name" 0 1 "$started"
        fi
    done
}

PG_BIN=$("$PG_CONFIG" --bindir)
# Without autovacuum, which would refresh row estimates, and so make a new snapshot, at a moment of its own.
tests/support/cluster.sh start "$NL2SQL_TEST_CLUSTER" -c max_connections=100 -c autovacuum=off || exit 1
# The demo's database is the template of the tests that want one with an index.
"$PG_BIN/createdb" -h "$NL2SQL_TEST_CLUSTER" -U postgres nl2sql_demo || exit 1
"$PG_BIN/psql" -h "$NL2SQL_TEST_CLUSTER" -U postgres -d nl2sql_demo -X -q -v ON_ERROR_STOP=1 -o /dev/null \
    -f sql/demo/chinook.sql -f sql/demo/helpdesk.sql -f sql/demo/webshop.sql -f sql/demo/questions.sql || exit 1

cargo_suite core -p nl2sql_core
cargo_suite embed -p nl2sql_embed
cargo_suite model -p nl2sql_model
regress
cargo_suite database -p nl2sql_tests --test database
cargo_suite cluster -p nl2sql_tests --test cluster

echo "$passed passed, $failed failed"
# A name that no test has is a mistake.
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

#!/usr/bin/env bash
# Runs every test and ends with one line that counts them. Called by `make test`, which has installed the extension into
# the Postgres of PG_CONFIG before.
#
#   run.sh [NAME]   only the suites whose name contains NAME; of the others, the tests whose name contains it
#
# NL2SQL_TEST_THREADS sets how many tests of a suite run at the same time (default: the number of processors).
# NL2SQL_REWRITE_DOCS=1 writes what psql prints into the examples of the manual.
set -uo pipefail
# shellcheck source=docker/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../docker/lib.sh"
cd "$ROOT" || exit 1
use_postgres

only=${1:-}
passed=0 failed=0
work=$(mktemp -d /tmp/nl2sql-run.XXXXXX)
export NL2SQL_TEST_CLUSTER=$work/c
chmod 755 "$work"
trap 'tests/support/cluster.sh remove "$NL2SQL_TEST_CLUSTER" 2>/dev/null; rm -rf "$work"' EXIT

# report NAME PASSED FAILED STARTED
report() {
    printf '== %-22s %4d passed, %d failed, %d s\n' "$1" "$2" "$3" $((SECONDS - $4))
    passed=$((passed + $2)) failed=$((failed + $3))
}

# Builds the test programs. Those of the model measure memory and vectors of optimized code; the others are quicker to
# build without optimization, and check overflow and debug assertions. Writes PACKAGE, TARGET, FOLDER and PROGRAM of each.
build() {
    local started=$SECONDS cargo=(cargo test --locked --quiet --no-run --message-format=json-render-diagnostics)
    "${cargo[@]}" -p nl2sql_core -p nl2sql_tests >"$work/artifacts" || return 1
    "${cargo[@]}" --release -p nl2sql_embed -p nl2sql_model >>"$work/artifacts" || return 1
    python3 - "$work/artifacts" >"$work/programs" <<'PY' || return 1
import json, os, sys
for line in open(sys.argv[1], encoding="utf-8"):
    one = json.loads(line)
    if one.get("executable") and one["profile"]["test"]:
        folder = os.path.dirname(one["manifest_path"])
        print(os.path.basename(folder), one["target"]["name"], folder, one["executable"], sep="\t")
PY
    echo "== build, $((SECONDS - started)) s"
}

# suite NAME PACKAGE [TARGET]: adds the counts of the programs' last lines. A program that ends early, or a suite without
# programs, counts as one failure.
suite() {
    local name=$1 package=$2 target=${3:-} log=$work/$1.log filter=() started=$SECONDS
    local of found folder program ok bad programs=0 broken=0
    [[ $name == *"$only"* ]] || filter=("$only")
    : >"$log"
    while IFS=$'\t' read -r of found folder program; do
        if [ "$of" != "$package" ] || [ "${target:-$found}" != "$found" ]; then continue; fi
        programs=$((programs + 1))
        # The one program without a test harness knows no filter.
        if [ "$found" = process ] && [ ${#filter[@]} -gt 0 ] && [[ $found != *"$only"* ]]; then continue; fi
        (cd "$folder" && exec "$program" --quiet "${filter[@]}" \
            ${NL2SQL_TEST_THREADS:+--test-threads="$NL2SQL_TEST_THREADS"}) </dev/null >"$work/output" 2>&1 || {
            grep -q '^test result: FAILED' "$work/output" || broken=$((broken + 1))
            cat "$work/output"
        }
        cat "$work/output" >>"$log"
    done <"$work/programs"
    [ "$programs" -gt 0 ] || broken=1
    ok=$(sed -n 's/^test result: .* \([0-9]*\) passed;.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
    bad=$(sed -n 's/^test result: .* \([0-9]*\) failed;.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
    bad=$((bad + broken))
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
            echo "the output is in build/$name.out"
            report "regress/$name" 0 1 "$started"
        fi
    done
}

if ! build; then
    report build 0 1 0
    echo "$passed passed, $failed failed"
    exit 1
fi
# Without autovacuum, which would refresh row estimates, and so make a new snapshot, at a moment of its own.
tests/support/cluster.sh start "$NL2SQL_TEST_CLUSTER" -c max_connections=100 -c autovacuum=off || exit 1
# The demo's database is the template of the tests that want one with an index.
"$PG_BIN/createdb" -h "$NL2SQL_TEST_CLUSTER" -U postgres nl2sql_demo || exit 1
"$PG_BIN/psql" -h "$NL2SQL_TEST_CLUSTER" -U postgres -d nl2sql_demo -X -q -v ON_ERROR_STOP=1 -o /dev/null \
    -f sql/demo/chinook.sql -f sql/demo/helpdesk.sql -f sql/demo/webshop.sql -f sql/demo/questions.sql || exit 1

suite core core
suite embed embed
suite model model
regress
suite database tests database
suite cluster tests cluster
if [ -z "$only" ]; then
    echo "Examples of the manual that no test runs:"
    grep -rn '^<!-- doc test: skip: ' README.md docs --include='*.md' | sed 's/^/   /; s/<!-- doc test: skip: \(.*\) -->/\1/'
fi

echo "$passed passed, $failed failed"
# A name that no test has is a mistake.
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

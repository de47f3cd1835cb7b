#!/usr/bin/env bash
# Measures how well routing and retrieval find what questions need: on the demo's own cases, or on others.
# Called by `make eval`. In the environment:
#
#   CASES        files of cases, JSON a line: {"question", "tables", "columns", "db"} or {"question", "datasources"}
#   DDL          SQL files (also .gz) that make the schemas; each schema becomes a datasource
#   EXAMPLES     a file of cases whose questions become sample questions of their "db"
#   DATASOURCES  a JSON file of {name: {description, domains, sample_questions}}
#   OUT          where the figures go as JSON (default: build/eval.json)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d /tmp/nl2sql-eval.XXXXXX)
chmod 755 "$work"
trap 'tests/support/cluster.sh remove "$work/c"; rm -rf "$work"' EXIT
PG_BIN=$("$PG_CONFIG" --bindir)
tests/support/cluster.sh start "$work/c" -c autovacuum=off -c max_locks_per_transaction=256
query() { "$PG_BIN/psql" -h "$work/c" -U postgres -X -q -v ON_ERROR_STOP=1 -o /dev/null "$@"; }

if [ -z "${CASES:-}" ]; then
    CASES=tests/eval/cases.jsonl
    query -f sql/demo/chinook.sql -f sql/demo/helpdesk.sql -f sql/demo/webshop.sql
    query -f sql/demo/questions.sql
else
    query -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION nl2sql CASCADE'
    for file in ${DDL:-}; do
        case $file in
        *.gz) gunzip -c "$file" | query -v ON_ERROR_STOP=0 2>/dev/null ;;
        *) query -f "$file" ;;
        esac
    done
fi
mkdir -p build
# shellcheck disable=SC2086  # CASES is a list of files
cargo run --release --locked --quiet -p nl2sql_tests --bin nl2sql-eval -- \
    "$work/c" "${EXAMPLES:--}" "${DATASOURCES:--}" "${OUT:-build/eval.json}" $CASES

#!/usr/bin/env bash
# Measures on this machine and prints what it measured: texts a second through nl2sql_index() against the model alone (the
# same texts, model and number of threads, in one run, the fastest of three each); the latency of searches without and
# with the embedding of the question; statistics of a big table against a scan of it; and health of a big schema.
# Called by `make bench`, and takes some minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d /tmp/nl2sql-bench.XXXXXX)
chmod 755 "$work"
trap 'tests/support/cluster.sh remove "$work/c"; rm -rf "$work"' EXIT
PG_BIN=$("$PG_CONFIG" --bindir)
tests/support/cluster.sh start "$work/c" -c autovacuum=off -c max_locks_per_transaction=256
query() { "$PG_BIN/psql" -h "$work/c" -U postgres -X -q -v ON_ERROR_STOP=1 "$@"; }
value() { query -A -t -c "$1"; }

query -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION nl2sql CASCADE'
query -o /dev/null -f sql/demo/chinook.sql -f sql/demo/helpdesk.sql -f sql/demo/webshop.sql
query -o /dev/null -c 'SET client_min_messages = warning' \
    -c "SELECT nl2sql_index('chinook')" -c "SELECT nl2sql_index('helpdesk')" -c "SELECT nl2sql_index('webshop')"
query -o /dev/null -f tests/bench/bench.sql
value "SELECT DISTINCT text FROM nl2sql.entry WHERE datasource = 'bench' ORDER BY text" >"$work/texts"

echo "Indexing 150 tables of 6 columns"
through=$(value "SELECT round(max(embedded / seconds)::numeric, 1) FROM bench_build")
value "SELECT format('  through nl2sql_index()        %s texts/s (%s entries, %s embedded, %s s)', round((embedded / seconds)::numeric, 1),
       entries, embedded, round(seconds::numeric, 2)) FROM bench_build ORDER BY seconds LIMIT 1"
"${CARGO_TARGET_DIR:-target}/release/nl2sql-model" bench --runtime "$NL2SQL_TEST_RUNTIME" "$NL2SQL_TEST_MODEL" "$work/texts" >"$work/alone"
alone=$(sed -n 's/^both *\([0-9.]*\) texts\/s/\1/p' "$work/alone")
echo "  ONNX Runtime alone            $alone texts/s"
awk -v a="$through" -v b="$alone" 'BEGIN {printf "  ratio                         %.2f\n", a / b}'
value "SELECT format('  a second time                 %s, %s embedded, %s s', status, embedded, round(seconds::numeric, 3)) FROM bench_again"
entries=$(value "SELECT count(*) FROM nl2sql.entry WHERE datasource NOT IN ('big', 'many')")
echo "Searching four datasources of $entries entries in all, median of 60 calls"
value "SELECT format('  nl2sql_%s, %s question %s%s ms', rpad(what, 5), rpad(question, 10), '   ',
              round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 2))
       FROM bench_latency GROUP BY what, question ORDER BY what DESC, question DESC"
echo "Statistics of 1,000,000 rows and 20 columns, fastest of three"
value "SELECT format('  %s %s s', rpad(CASE what WHEN 'scan' THEN 'one scan for every minimum and maximum' ELSE 'nl2sql_index() of the table' END, 40),
              round(min(seconds)::numeric, 2)) FROM bench_profile GROUP BY what ORDER BY what DESC"
value "SELECT format('  %s %s', rpad('ratio', 40), round((min(seconds) FILTER (WHERE what = 'index') / min(seconds) FILTER (WHERE what = 'scan'))::numeric, 2))
       FROM bench_profile"
echo "One datasource of 2,000 tables and 24,000 columns, median of 7 calls"
value "SELECT format('  %s %s ms', rpad(what, 40), round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric)) FROM bench_many GROUP BY what ORDER BY what"

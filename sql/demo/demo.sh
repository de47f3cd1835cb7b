#!/usr/bin/env bash
# The demo: a throwaway server with three small databases, and what nl2sql answers on them.
#
#   demo.sh start      starts afresh, asks sql/demo/questions.sql, leaves the server running
#   demo.sh stop       stops and deletes it
set -euo pipefail
# shellcheck source=docker/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../docker/lib.sh"

CLUSTER=$ROOT/tests/support/cluster.sh
# Where the last demo lives. Not below our own folder: the server's user may not be able to enter that.
STATE=$BUILD/demo-server

stop() {
    local dir
    [ -f "$STATE" ] || { say "no demo server is running"; return; }
    dir=$(cat "$STATE")
    "$CLUSTER" remove "$dir"
    rm -f "$STATE"
    say "stopped the demo server and removed $dir"
}

demo_psql() { "$PG_BIN/psql" -X -h "$dir" -U postgres -d demo -v ON_ERROR_STOP=1 -P pager=off "$@"; }

start() {
    local dir schema
    use_postgres
    [ ! -f "$STATE" ] || stop
    mkdir -p "$BUILD"
    dir=$(mktemp -d /tmp/nl2sql-demo.XXXXXX)
    echo "$dir" >"$STATE"
    trap 'say "the demo failed; removing its server"; stop' EXIT
    say "starting a throwaway Postgres $PG_MAJOR in $dir (Unix socket only, no network port)"
    "$CLUSTER" start "$dir"
    "$PG_BIN/createdb" -h "$dir" -U postgres demo
    for schema in chinook helpdesk webshop; do
        say "loading the schema $schema from sql/demo/$schema.sql"
        demo_psql -q -o /dev/null -f "$ROOT/sql/demo/$schema.sql"
    done
    demo_psql -e -f "$ROOT/sql/demo/questions.sql" -f "$ROOT/sql/demo/curated.sql"
    trap - EXIT
    echo
    say "the server is still running. Go on with:"
    printf '\n    %q -h %q -U postgres demo\n\n' "$PG_BIN/psql" "$dir"
    say "and end it with: make demo-stop"
}

case ${1:-} in
start) start ;;
stop) stop ;;
*) die "usage: demo.sh start|stop" ;;
esac

#!/usr/bin/env bash
# A throwaway Postgres of one's own, for the demo and the tests: a folder, a Unix socket in it, no network port.
#
#   cluster.sh start DIR [-c name=value]...   makes the cluster if DIR holds none, and starts it
#   cluster.sh stop DIR [fast|immediate]      stops it by its own process id; the data stay
#   cluster.sh remove DIR                     stops it and deletes DIR
#   cluster.sh run COMMAND...                 runs a command as the user that the server runs as
#
# The server's programs are those of PG_CONFIG. As root it runs as the user "postgres" (Postgres refuses root), else as
# whoever calls. Connect with: psql -h DIR -U postgres (the folder is closed to others, within it everybody is trusted).
set -euo pipefail
# shellcheck source=docker/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../docker/lib.sh"

MARK=nl2sql-throwaway-cluster
SERVER_USER=${NL2SQL_SERVER_USER:-postgres}

# From /, since the user may not be able to enter the folder that we are in.
as_server() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && exec setpriv --reuid="$SERVER_USER" --regid="$(id -g "$SERVER_USER")" --init-groups -- "$@")
    else
        "$@"
    fi
}

# The postmaster's process id, if it is alive and is this folder's.
running_pid() {
    local pid
    pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) || return 1
    [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$(realpath "$1/data")" ] && echo "$pid"
}

create() {
    local dir=$1
    if [ -e "$dir/$MARK" ] && [ -f "$dir/data/PG_VERSION" ]; then return; fi
    [ ! -e "$dir/data" ] || die "$dir/data exists and is not a cluster that this script made"
    if [ "$(id -u)" -eq 0 ]; then
        id "$SERVER_USER" >/dev/null 2>&1 || die "Postgres refuses to run as root, and there is no user $SERVER_USER here."
    fi
    mkdir -p "$dir"
    touch "$dir/$MARK"
    [ "$(id -u)" -ne 0 ] || chown -R "$SERVER_USER:" "$dir"
    chmod 700 "$dir"
    as_server "$PG_BIN/initdb" -D "$dir/data" -U postgres --auth=trust --encoding=UTF8 --no-locale --no-sync \
        >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log" >&2; die "initdb failed"; }
}

# Only its own crash would lose data that nobody keeps, so nothing waits for the disk. What the caller sets comes last.
start() {
    local dir=$1 settings
    shift
    settings=(-c "unix_socket_directories=$dir" -c listen_addresses= -c "unix_socket_permissions=0700"
        -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=64MB -c max_connections=50)
    create "$dir"
    ! running_pid "$dir" >/dev/null || die "a server is running in $dir already"
    as_server env -u PGDATA -u RUST_BACKTRACE HOME="$dir" "$PG_BIN/pg_ctl" start -s -w -t 60 -D "$dir/data" -l "$dir/log" \
        -o "$(printf ' %q' "${settings[@]}" "$@")" >/dev/null 2>&1 ||
        { tail -n 30 "$dir/log" >&2; die "the server did not start (its log: $dir/log)"; }
}

stop() {
    local dir=$1 signal=INT pid tries
    [ "${2:-fast}" = fast ] || signal=QUIT
    pid=$(running_pid "$dir") || return 0
    kill -"$signal" "$pid"
    for ((tries = 0; tries < 600; tries++)); do
        # Not kill -0: in a container without an init, what has ended stays as a zombie.
        [ -n "$(readlink "/proc/$pid/cwd" 2>/dev/null)" ] || return 0
        sleep 0.1
    done
    die "the server $pid in $dir did not stop within a minute"
}

remove() {
    [ -e "$1" ] || return 0
    [ -e "$1/$MARK" ] || die "$1 was not made by this script: not removed"
    stop "$1" immediate
    rm -rf "$1"
}

action=${1:-}
case $action in
start | stop | remove)
    [ $# -ge 2 ] || die "usage: cluster.sh $action DIR"
    dir=$(realpath -m "$2")
    shift 2
    # 107 bytes is what the kernel allows for "DIR/.s.PGSQL.5432".
    [ ${#dir} -le 88 ] || die "the path $dir is too long for a Unix socket"
    [ "$action" != start ] || use_postgres
    "$action" "$dir" "$@"
    ;;
run)
    shift
    as_server "$@"
    ;;
*) die "usage: cluster.sh start DIR [-c name=value]... | stop DIR [fast|immediate] | remove DIR | run COMMAND..." ;;
esac

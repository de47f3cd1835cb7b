#!/usr/bin/env bash
# Builds the extension for the Postgres of PG_CONFIG and installs it there, or removes it.
#
#   install.sh install       library, control file, SQL scripts, model, ONNX Runtime
#   install.sh uninstall     removes the same files
#
# DESTDIR is prepended to every path that is written, as packagers expect.
set -euo pipefail
# shellcheck source=docker/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

use_postgres
LIB=${DESTDIR:-}$PG_LIB
SHARE=${DESTDIR:-}$PG_SHARE
changed=0

# Copies a file, unless the same file is already there. A running server maps these files, and writing in place would
# crash it, so each file is renamed into place.
put() {
    local mode=$1 source=$2 dest=$3 dir
    ! cmp -s "$source" "$dest" || return 0
    dir=$(dirname "$dest")
    [ -d "$dir" ] || as_writer_of "$dir" install -d -m 755 "$dir"
    as_writer_of "$dir" install -m "$mode" "$source" "$dest.new.$$"
    # Sync before the rename. Unwritten pages would also count as private memory of each backend.
    as_writer_of "$dir" sync "$dest.new.$$"
    as_writer_of "$dir" mv -f "$dest.new.$$" "$dest"
    changed=$((changed + 1))
}

install_all() {
    local file script
    for file in "runtime/$RUNTIME_FILE" model/manifest.json; do
        [ -f "$BUILD/$file" ] || die "the model or ONNX Runtime is missing from $BUILD: run 'make setup' first"
    done
    # Check permissions before the build, which takes minutes.
    as_writer_of "$LIB" true
    as_writer_of "$SHARE/extension" true
    build_all
    say "installing into $LIB and $SHARE"
    # Install a file before the files that refer to it: the model, then its manifest, the library, the script, and the
    # control file last.
    put 755 "$BUILD/runtime/$RUNTIME_FILE" "$LIB/nl2sql/$RUNTIME_FILE"
    for file in "$BUILD"/model/*; do
        [ "${file##*/}" = manifest.json ] || put 644 "$file" "$SHARE/nl2sql/model/${file##*/}"
    done
    put 644 "$BUILD/model/manifest.json" "$SHARE/nl2sql/model/manifest.json"
    for file in "$SHARE"/nl2sql/model/*; do
        [ -e "$BUILD/model/${file##*/}" ] || as_writer_of "${file%/*}" rm -f "$file"
    done
    put 755 "$RELEASE/libnl2sql.so" "$LIB/nl2sql.so"
    script=$(write_install_script)
    put 644 "$script" "$SHARE/extension/${script##*/}"
    put 644 "$ROOT/nl2sql.control" "$SHARE/extension/nl2sql.control"
    if [ "$changed" -eq 0 ]; then
        say "everything is already installed"
    else
        say "installed $changed files; running sessions use the old ones until they reconnect"
    fi
}

uninstall_all() {
    local path there=()
    for path in "$LIB/nl2sql.so" "$LIB/nl2sql" "$SHARE/nl2sql" "$SHARE/extension/nl2sql.control" \
        "$SHARE"/extension/nl2sql--*.sql; do
        if [ -e "$path" ]; then there+=("$path"); fi
    done
    if [ ${#there[@]} -eq 0 ]; then
        say "nothing of nl2sql is installed in $LIB or $SHARE"
        return
    fi
    for path in "${there[@]}"; do
        say "removing $path"
        as_writer_of "$(dirname "$path")" rm -rf "$path"
    done
}

case ${1:-} in
install) install_all ;;
uninstall) uninstall_all ;;
*) die "usage: install.sh install|uninstall" ;;
esac

#!/usr/bin/env bash
# Runs a command (the tests, the benchmark) with what `make setup` prepared in its environment.
set -euo pipefail
# shellcheck source=docker/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../docker/lib.sh"

use_postgres
export NL2SQL_TEST_RUNTIME=$BUILD/runtime/$RUNTIME_FILE
export NL2SQL_TEST_MODEL=$BUILD/model
exec "$@"

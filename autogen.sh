#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a clone to a build. `./autogen.sh` makes configure. `./autogen.sh build`, `demo` and `check` then continue in _build/,
# after they have installed missing Debian packages.
set -eu
cd "$(dirname "$0")"

PACKAGES="gcc g++ make autoconf automake pkg-config libglib2.0-dev libsqlite3-dev libcurl4-openssl-dev libgnutls28-dev nettle-dev sqlite3"
LOG=

say () { echo "autogen: $*" >&2; }

# Runs a step without showing its output, unless it fails.
quietly ()
{
  LOG=$(mktemp)
  if "$@" >"$LOG" 2>&1 </dev/null; then
    rm -f "$LOG"
    return 0
  fi
  tail -n 40 "$LOG" >&2
  rm -f "$LOG"
  say "this failed: $*"
  exit 1
}

is_there ()
{
  case $1 in
    automake) command -v automake && command -v aclocal ;;
    libglib2.0-dev) pkg-config --exists 'glib-2.0 >= 2.74' gio-unix-2.0 ;;
    libsqlite3-dev) pkg-config --exists 'sqlite3 >= 3.40' ;;
    libcurl4-openssl-dev) pkg-config --exists 'libcurl >= 7.88' ;;
    libgnutls28-dev) pkg-config --exists 'gnutls >= 3.7' ;;
    nettle-dev) pkg-config --exists 'nettle >= 3.7' ;;
    *) command -v "$1" ;;
  esac >/dev/null 2>&1
}

install_packages ()
{
  missing=
  for package in $PACKAGES; do
    is_there "$package" || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  if ! command -v apt-get >/dev/null 2>&1; then
    say "missing:$missing (names as in Debian); install them and run this again"
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    say "some packages are missing; install them and run this again:"
    echo "sudo apt-get update && sudo apt-get install -y$missing" >&2
    exit 1
  fi
  say "installing$missing"
  DEBIAN_FRONTEND=noninteractive
  export DEBIAN_FRONTEND
  quietly apt-get -q update
  # shellcheck disable=SC2086
  quietly apt-get -q -y --no-install-recommends install $missing
}

make_configure ()
{
  say "making configure"
  quietly autoreconf -fi
}

# An old _build keeps its settings; make runs configure again when it has to.
build ()
{
  install_packages
  if [ ! -x configure ] || [ configure.ac -nt configure ] || [ ! -f Makefile.in ]; then
    make_configure
  fi
  mkdir -p _build
  if [ ! -e _build/configured ]; then
    say "configuring in _build/"
    (cd _build && quietly ../configure -q && : >configured)
  fi
  say "building"
  make -s -C _build -j"$(nproc 2>/dev/null || echo 2)" </dev/null || { say "the build failed"; exit 1; }
  say "built: the programs are in _build/bin/"
}

usage ()
{
  echo "usage: ./autogen.sh [build | demo | check]" >&2
  exit 2
}

[ $# -le 1 ] || usage
case ${1-} in
  '')
    command -v autoreconf >/dev/null 2>&1 \
      || { say "autoconf and automake are missing: ./autogen.sh build installs them"; exit 1; }
    make_configure
    say "now: mkdir -p _build && cd _build && ../configure && make (or ./autogen.sh build does it all)"
    ;;
  build)
    build
    ;;
  demo)
    build
    exec ./tests/e2e/demo _build/bin
    ;;
  check)
    build
    say "checking; this takes some minutes"
    make -s -C _build -j"$(nproc 2>/dev/null || echo 2)" check-TESTS TESTS= </dev/null || exit 1
    tests=$(make -s -C _build list-tests) || exit 1
    # make runs the rule of config.h again whenever config.h is older than its stamp, and puts off all programs that it meets meanwhile
    # to the end of the list.
    [ _build/config.h -nt _build/config.status ] && touch -r _build/config.h _build/stamp-h1
    # Many tests run in parallel: most of them wait most of the time.
    # shellcheck disable=SC2086
    make -s -C _build -j$((4 * $(nproc 2>/dev/null || echo 2))) check-TESTS TESTS="$(echo $tests)" </dev/null
    ;;
  *)
    usage
    ;;
esac

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program from outside the tree is built against what `make install` installs.
. "$(dirname "$0")/lib.sh"
[ -n "${SATIN_SANITIZED-}" ] && { echo "1..0 # SKIP a sanitized library needs its own flags"; exit 0; }
tree=$SATIN_BIN/..
prefix=$work/root/usr/local
try env -u MAKEFLAGS -u MAKELEVEL make -s -C "$tree" install prefix="$prefix" exec_prefix="$prefix"
is "make install" "$code" 0
ok "installs header, library and description" \
  [ -f "$prefix/include/satin/satin.h" -a -f "$prefix/lib/libsatin.a" -a -f "$prefix/lib/pkgconfig/satin.pc" ]
# The description names the place for which it was configured.
sed -i "s|^prefix=.*|prefix=$prefix|; s|^exec_prefix=.*|exec_prefix=$prefix|" "$prefix/lib/pkgconfig/satin.pc"
sed -i "s|^libdir=.*|libdir=$prefix/lib|; s|^includedir=.*|includedir=$prefix/include|" "$prefix/lib/pkgconfig/satin.pc"
flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs satin)
# shellcheck disable=SC2086
try ${CC:-gcc} -std=gnu11 -Wall -Wextra -Werror -O2 -o "$work/sum" "$SATIN_SOURCE/tests/e2e/outside.c" $flags
is "a C program compiles and links" "$code" 0
# shellcheck disable=SC2086
try "${CXX:-g++}" -std=gnu++17 -Wall -Wextra -O2 -o "$work/sum++" "$SATIN_SOURCE/tests/e2e/outside.cc" $flags
is "a C++ program compiles and links" "$code" 0
try "$work/sum" 100000
is "it runs alone" "$answer" 4999950000
try "$prefix/bin/satin" run -n 3 -- "$work/sum" 100000
is "it runs on three nodes with the installed satin" "$answer" 4999950000
try "$satin" run -n 3 -- "$work/sum++" 100000
is "so does the C++ one" "$answer" 4999950000
ulimit -c 0
try "$work/sum++" 1 1
is "an exception does not get from a job to its parent: exit code" "$code" 6
ok "what was thrown is said" grep -q "thrown by a job" <<<"$words"
ok "and by which job" grep -q "the job at /, catcher (1), or one below it: abort" <<<"$words"

sed 's/^#define SATIN_INLINE_VERSION_ .*/#define SATIN_INLINE_VERSION_ 255u/' "$prefix/include/satin/satin.h" >"$work/satin.h"
# shellcheck disable=SC2086
try ${CC:-gcc} -std=gnu11 -O2 -I"$work" -o "$work/odd" "$SATIN_SOURCE/tests/e2e/outside.c" $flags
try "$work/odd" 100
is "a program with the header of another version: exit code 1" "$code" 1
ok "and one sentence" grep -q "compiled with the satin.h of another version" <<<"$words"

# As a distribution packages it: staged by DESTDIR, and a folder of somebody's own with a program and three lines of make.
stage=$work/stage
try env -u MAKEFLAGS -u MAKELEVEL make -s -C "$tree" install DESTDIR="$stage"
is "make install with a DESTDIR" "$code" 0
mkdir "$work/own"
# Where it is staged, and not where it is to be.
sed "s|^prefix=|prefix=$stage|; s|=\(/.*\)/lib\$|=$stage\1/lib|; s|=\(/.*\)/include\$|=$stage\1/include|" \
  "$(find "$stage" -name satin.pc)" >"$work/own/satin.pc"
sed 's/@NAME@/first/g' "$SATIN_SOURCE/apps/template.c.in" >"$work/own/first.c"
cp "$SATIN_SOURCE/tests/e2e/outside.cc" "$work/own/second.cc"
printf '%s\n' 'SATIN := $(shell pkg-config --cflags --libs satin)' 'all: first second' \
  'first: first.c ; $(CC) -O2 -o $@ $< $(SATIN)' 'second: second.cc ; $(CXX) -O2 -o $@ $< $(SATIN)' >"$work/own/Makefile"
try env -u MAKEFLAGS -u MAKELEVEL PKG_CONFIG_PATH="$work/own" make -s -C "$work/own" CC="${CC:-gcc}" CXX="${CXX:-g++}"
is "programs in a folder of their own are built" "$code $words" "0 "
for program in first:1000000:'primes 78498' second:100000:4999950000; do
  IFS=: read -r name n wanted <<<"$program"
  try "$work/own/$name" "$n"
  is "$name runs" "$answer" "$wanted"
  try "$(find "$stage" -path '*/bin/satin')" run -n 2 -- "$work/own/$name" "$n"
  is "$name runs on two nodes" "$answer" "$wanted"
done
finish

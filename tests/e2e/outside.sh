#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program from outside the tree is built against the files that `make install` installs.
. "$(dirname "$0")/lib.sh"
[ -n "${SATIN_SANITIZED-}" ] && { echo "1..0 # SKIP a sanitized library needs its own flags"; exit 0; }
tree=$SATIN_BIN/..
prefix=$work/root/usr/local
try env -u MAKEFLAGS -u MAKELEVEL make -s -C "$tree" install prefix="$prefix" exec_prefix="$prefix"
is "make install" "$code" 0
ok "installs header, library and description" \
  [ -f "$prefix/include/satin/satin.h" -a -f "$prefix/lib/libsatin.a" -a -f "$prefix/lib/pkgconfig/satin.pc" ]
ok "installs README and apps/README" [ -f "$prefix/share/doc/satin/README" -a -f "$prefix/share/doc/satin/apps/README" ]
# satin.pc names the folder for which it was configured.
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
is "the C++ program runs on three nodes, too" "$answer" 4999950000
ulimit -c 0
try "$work/sum++" 1 1
is "an exception of a job does not reach its parent: exit code" "$code" 6
ok "the message has the exception's text" grep -q "thrown by a job" <<<"$words"
ok "and the job that threw it" grep -q "the job at /0, thrower (1): it threw std::runtime_error: thrown by a job" <<<"$words"
try "$work/sum++" 1 2 3
is "many jobs throw at once: exit code" "$code" 6
ok "… one is named" grep -q ", thrower ([0-9]*): it threw std::runtime_error: thrown by a job" <<<"$words"
ok "… and no message mentions terminate" [ "$(grep -c 'terminate called' <<<"$words")" -eq 0 ]
try "$work/sum++" 1 2 3 4
is "an exception that leaves main: killed by abort" "$code" 134
ok "… is named" grep -q "a C++ exception left main.*: std::runtime_error: thrown by main" <<<"$words"

sed 's/^#define SATIN_INLINE_VERSION_ .*/#define SATIN_INLINE_VERSION_ 255u/' "$prefix/include/satin/satin-words.h" \
  >"$work/satin-words.h"
cp "$prefix"/include/satin/satin{,-frame,-types,-macros}.h "$work"
# shellcheck disable=SC2086
try ${CC:-gcc} -std=gnu11 -O2 -I"$work" -o "$work/odd" "$SATIN_SOURCE/tests/e2e/outside.c" $flags
try "$work/odd" 100
is "a program with the header of another version: exit code 1" "$code" 1
ok "and a message" grep -q "compiled with the satin.h of another version" <<<"$words"

# A build is identified by the shared objects of the program, too, wherever they are, and by the content of a file that has no
# build-id.
for leaf in 1 2; do
  echo "long leaf (void) { return $leaf; }" >"$work/leaf$leaf.c"
  # shellcheck disable=SC2086
  try ${CC:-gcc} -shared -fPIC -o "$work/libleaf.so.$leaf" "$work/leaf$leaf.c"
  # shellcheck disable=SC2086
  try ${CC:-gcc} -std=gnu11 -O2 -o "$work/none$leaf" "$SATIN_SOURCE/tests/e2e/leaf.c" "$work/leaf$leaf.c" $flags -Wl,--build-id=none
done
cp "$work/libleaf.so.1" "$work/libleaf.so"
# shellcheck disable=SC2086
try ${CC:-gcc} -std=gnu11 -O2 -o "$work/linked" "$SATIN_SOURCE/tests/e2e/leaf.c" -L"$work" -lleaf -Wl,-rpath,"$work" $flags
is "a program with a library of its own compiles and links" "$code" 0
mkdir "$work/lib" "$work/elsewhere"
# shellcheck disable=SC2016,SC2086
try ${CC:-gcc} -std=gnu11 -O2 -o "$work/below" "$SATIN_SOURCE/tests/e2e/leaf.c" -L"$work" -lleaf -Wl,-rpath,'$ORIGIN/lib' $flags
# shellcheck disable=SC2086
try ${CC:-gcc} -std=gnu11 -O2 -o "$work/apart" "$SATIN_SOURCE/tests/e2e/leaf.c" -L"$work" -lleaf -Wl,-rpath,"$work/elsewhere" $flags
builds_differ () # NAME PROGRAM TO FIRST SECOND: copies FIRST to TO, then SECOND
{
  local name=$1 program=$2 to=$3
  cp "$4" "$to"
  try "$program" --checkpoint "$work/$name.db" 1
  is "$name: the first build" "$code:$answer" "0:1"
  cp "$5" "$to.new" && mv "$to.new" "$to"
  try "$program" --checkpoint "$work/$name.db" 1
  is "$name: the second build is refused" "$code:$answer" "3:"
}
builds_differ library "$work/linked" "$work/libleaf.so" "$work/libleaf.so.1" "$work/libleaf.so.2"
builds_differ below "$work/below" "$work/lib/libleaf.so" "$work/libleaf.so.1" "$work/libleaf.so.2"
builds_differ apart "$work/apart" "$work/elsewhere/libleaf.so" "$work/libleaf.so.1" "$work/libleaf.so.2"
builds_differ content "$work/none" "$work/none" "$work/none1" "$work/none2"

# As in a distribution's package: installed with DESTDIR; a user's folder has a program and three lines of make.
stage=$work/stage
try env -u MAKEFLAGS -u MAKELEVEL make -s -C "$tree" install DESTDIR="$stage"
is "make install with a DESTDIR" "$code" 0
mkdir "$work/own"
# satin.pc must name the DESTDIR folder, not the final one.
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

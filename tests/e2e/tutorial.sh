#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tutorial of apps/README: the program that new-app makes is built and gives its answers in five ways, and all code shown
# there is in a tested program.
. "$(dirname "$0")/lib.sh"
readme=$SATIN_SOURCE/apps/README
tree=$work/tree

# new-app, in a copy of the tree.
mkdir -p "$tree/apps"
cp "$SATIN_SOURCE"/apps/{Makefile.inc,template.c.in,template.expect.in} "$tree/apps"
chmod -R u+w "$tree"
make_app () { try bash "$SATIN_SOURCE/apps/new-app" "$tree" "$@"; }
make_app fresh
is "new-app makes a program" "$code" 0
is "which the next make builds" "$(tail -n 4 "$tree/apps/Makefile.inc" | sed 's/ .*//' | tr '\n' ' ')" \
  "noinst_PROGRAMS bin_fresh_SOURCES bin_fresh_LDADD EXTRA_DIST "
is "and no other line of the list changes" \
  "$(diff "$SATIN_SOURCE/apps/Makefile.inc" "$tree/apps/Makefile.inc" | grep -c '^[<d]')" 0
for name in '' fresh fib satin 9lives ../x 'a b' Upper; do
  make_app "$name"
  is "new-app refuses '$name'" "$code" 1
  ok "with one message" one_line
done
is "and makes no folder" "$(find "$tree/apps" -mindepth 1 -type d | wc -l)" 1

needs=$(sed -n 's/^Requires: //p' "$SATIN_SOURCE/satin.pc.in")
# shellcheck disable=SC2086
if [ -z "${SATIN_SANITIZED-}" ] && pkg-config --exists $needs 2>/dev/null; then
  mkdir "$work/bin"
  ln -s "$satin" "$work/bin/satin"
  # shellcheck disable=SC2046,SC2086
  try ${CC:-gcc} -std=gnu11 -Wall -Wextra -Werror -O2 -o "$work/bin/fresh" "$tree/apps/fresh/fresh.c" \
    -I"$SATIN_SOURCE/satin" -I"$SATIN_SOURCE/satin/value" "$SATIN_BIN/../satin/libsatin.a" \
    $(pkg-config --cflags --libs $needs) -pthread -lm
  is "it compiles without a warning" "$code" 0
  try env SATIN_BIN="$work/bin" SATIN_SOURCE="$tree" bash "$SATIN_SOURCE/tests/e2e/five.sh" all fresh
  is "its answers are as expected in five ways" "$code $(grep -c '^ok' <<<"$answer")" "0 12"
  try "$work/bin/fresh"
  is "without arguments it prints its usage" "$code $(wc -l <<<"$words")" "2 1"
else
  skip "it compiles" "there is no compiler for it"
fi

# Code is in lines that are indented by four blanks, or by seven in a list, and that are no commands.
cat "$SATIN_SOURCE"/apps/primes/primes.c "$tree/apps/fresh/fresh.c" "$SATIN_SOURCE/tests/e2e/laws.c" \
  "$SATIN_SOURCE/satin/satin.h" | sed 's/^ *//' >"$work/code"
sed -n '/^A program of your own/,$p' "$readme" | sed -n 's/^    \(   \)\{0,1\} *\([^ ].*\)/\2/p' >"$work/shown"
pieces=0
while IFS= read -r line; do
  case $line in _build/* | make\ * | "constant 'start'"* | 'int f (SatinRun'*) continue ;; esac
  pieces=$((pieces + 1))
  grep -qxF -- "$line" "$work/code" || is "this line of the tutorial is in a program" "" "$line"
done <"$work/shown"
ok "the tutorial shows code" [ $pieces -gt 25 ]
finish

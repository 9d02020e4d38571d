#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Checkpoints that a run may not use: refused with the reason, and not changed.
. "$(dirname "$0")/lib.sh"
good=$work/good.satin
try "$satin" run -n 2 --checkpoint "$good" -- "$SATIN_BIN/fib" 20
is "a checkpoint is made" "$answer" 6765

refused () # NAME CODE FILE COMMAND…
{
  local name=$1 wanted=$2 file=$3
  shift 3
  cp "$file" "$work/before"
  try "$@"
  is "$name: exit code" "$code" "$wanted"
  ok "$name: one line" one_line
  ok "$name: untouched" cmp -s "$file" "$work/before"
}

# The published Satin accepted any file as its own (S10).
refused "S10: other arguments" 3 "$good" "$satin" run --checkpoint "$good" -- "$SATIN_BIN/fib" 21
refused "S10: another program" 3 "$good" "$satin" run --checkpoint "$good" -- "$SATIN_BIN/nqueens" 20
refused "another program for resume" 3 "$good" "$satin" resume "$good" -- "$SATIN_BIN/nqueens"

cp "$good" "$work/new.satin"
# A file of another format has other checksums.
for table in run node job constant best keep result stem event; do
  echo "UPDATE $table SET sum = randomblob (8);"
done | sqlite3 "$work/new.satin" 'PRAGMA user_version = 99' '.read /dev/stdin'
refused "a newer format" 3 "$work/new.satin" "$satin" resume "$work/new.satin"

sqlite3 "$work/foreign.db" 'CREATE TABLE a (b); INSERT INTO a VALUES (1)'
refused "somebody else's database" 3 "$work/foreign.db" \
  "$satin" run --checkpoint "$work/foreign.db" -- "$SATIN_BIN/fib" 20

echo "Dear diary" >"$work/text"
refused "a text" 3 "$work/text" "$satin" run --checkpoint "$work/text" -- "$SATIN_BIN/fib" 20
refused "a text to inspect" 3 "$work/text" "$satin" inspect "$work/text"

tour=$(instance gr17.tsp)
if [ -n "$tour" ]; then
  cp "$tour" "$work/tour.tsp"
  "$satin" run --checkpoint "$work/tour.satin" -- "$SATIN_BIN/tsp" "$work/tour.tsp" >/dev/null 2>&1
  sed -i 's/^NAME.*/NAME: changed/' "$work/tour.tsp"
  try "$satin" run --checkpoint "$work/tour.satin" -- "$SATIN_BIN/tsp" "$work/tour.tsp"
  is "another input" "$code" 3
  try "$satin" resume "$work/tour.satin"
  is "resume takes the kept input" "$(sed -n 's/^length //p' <<<"$answer")" 2085
else
  skip "another input" "no gr17.tsp"
  skip "resume takes the kept input" "no gr17.tsp"
fi
finish

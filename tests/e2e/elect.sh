#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Which node writes the checkpoint: of four nodes the one with the fast path to it is elected, and another when that one is
# killed. The file is written on whichever node dies.
. "$(dirname "$0")/lib.sh"
choose_heavy

cc=${CC:-cc}
if ! $cc -shared -fPIC -O1 -o "$work/slow-place.so" "$SATIN_SOURCE/tests/e2e/slow-place.c" -ldl 2>"$work/words" \
    || [ -n "${SATIN_SANITIZED-}" ]; then
  skip "elections by the speed of the path" "no way to make the path of some nodes slow"
  finish
fi
mkdir "$work/numbers"
file=$work/elected.ckpt
coordinator_of () { nodes_of "$1" | awk '/"coordinator"/ { print $1; exit }'; }
is_coordinator () { [ "$(coordinator_of "$1")" = "$2" ]; } # RUN PID
generation () { sqlite3 "$file" "SELECT value FROM run WHERE key = 'generation'" 2>/dev/null || echo 0; }
fast_is_elected () { [ -s "$work/numbers/1" ] && is_coordinator lost "$(cat "$work/numbers/1")"; }
newer () { [ "$(generation)" -gt "$1" ]; }

# The founder takes number 0 at its first publication, so it is slow. The first of the other bidders is fast.
begin env LD_PRELOAD="$work/slow-place.so" SLOW_PLACE_FOLDER="$work/numbers" SLOW_PLACE_NAME=elected.ckpt \
  SLOW_PLACE_US=1000000 SLOW_PLACE_FAST=1 "$satin" run -n 4 --name vote --interval 0.2 --checkpoint "$file" -- "${heavy[@]}"
ok "four nodes are up" wait_for $((10 * slow)) up vote 4
master=$(master_of vote)
is "the master is coordinator at first" "$(coordinator_of vote)" "$master"
ok "all have tried" wait_for $((20 * slow)) [ -s "$work/numbers/3" ]
fast=$(cat "$work/numbers/1")
ok "the fast one is elected" wait_for $((20 * slow)) is_coordinator vote "$fast"
before=$(generation)
ok "and publishes" wait_for $((20 * slow)) newer "$before"
ok "the election is in the ledger" [ "$(sqlite3 "$file" "SELECT count(*) FROM event WHERE kind = 'elected'")" -ge 1 ]
ok "status shows the coordinator and the term" grep -q '^vote .*term 1' <<<"$("$satin" status vote)"

kill -9 "$fast"
another () { local now; now=$(coordinator_of vote); [ -n "$now" ] && [ "$now" != "$fast" ]; }
ok "when it is killed another is elected" wait_for $((20 * slow)) another
before=$(generation)
ok "the file is published further" wait_for $((20 * slow)) newer "$before"
ok "and is sound" integrity "$file"
share_is_told ()
{
  local saved
  saved=$(sqlite3 "$file" "SELECT value FROM run WHERE key = 'done'")
  "$satin" status vote --json | sed 's/.*"done":\([^,]*\),.*/\1/' | awk -v saved="$saved" '{ exit !(saved > 0 && $1 >= saved * 0.99) }'
}
ok "status shows what the coordinator knows to be done" wait_for $((20 * slow)) share_is_told

kill -9 "$(coordinator_of vote)"
finished
is "the answer is right" "$answer" "$heavy_answer"
is "the run is done" "$code" 0
ok "its file is sound" integrity "$file"
try_freed "$satin" resume "$file"
is "and holds the answer" "$answer" "$heavy_answer"

# A failed last publication is reported by the launcher, whichever node is coordinator.
rm -rf "$work/numbers" "$file" && mkdir "$work/numbers"
begin env LD_PRELOAD="$work/slow-place.so" SLOW_PLACE_FOLDER="$work/numbers" SLOW_PLACE_NAME=elected.ckpt \
  SLOW_PLACE_US=1000000 SLOW_PLACE_FAST=1 "$satin" run -n 3 --name lost --interval 0.2 --checkpoint "$file" -- "${heavy[@]}"
ok "a node other than the master is elected" wait_for $((30 * slow)) fast_is_elected
ok "it saves rows" wait_for $((20 * slow)) has_rows "$file"
until rm -f "$file" && mkdir "$file" 2>/dev/null; do :; done # a publication may come between
"$satin" suspend lost >/dev/null 2>&1
ended
is "a suspension that cannot be published ends with 4" "$code" 4
kept=$(sed -n "s/.*is kept in '\([^']*\)'.*/\1/p" <<<"$words" | head -n 1)
ok "the message says where the results are kept" test -s "$kept"
try_freed "$satin" resume "$kept"
is "a resume from there gives the answer" "$answer" "$heavy_answer"
rmdir "$file"

# Nodes that cannot reach the checkpoint take part, and a node that can founds the run. The checkpoint exists, so that the nodes
# look for it.
deny () # HOW-MANY
{
  rm -rf "$work/numbers" && mkdir "$work/numbers"
  denied=(env LD_PRELOAD="$work/slow-place.so" SLOW_PLACE_FOLDER="$work/numbers" SLOW_PLACE_NAME=elected.ckpt
    SLOW_PLACE_DENIED="$1")
}
rm -f "$file"
begin "$satin" run -n 2 --name half --interval 0.1 --checkpoint "$file" -- "${heavy[@]}"
ok "something is saved" wait_for $((20 * slow)) has_rows "$file"
"$satin" suspend half >/dev/null 2>&1
ended
is "and suspended" "$code" 75
deny 2
begin "${denied[@]}" "$satin" run -n 4 --name some --checkpoint "$file" -- "${heavy[@]}"
ok "four nodes are up, two of which cannot reach it" wait_for $((20 * slow)) up some 4
ok "one that can is coordinator" test "$(coordinator_of some)" != "$(cat "$work/numbers/0")" \
  -a "$(coordinator_of some)" != "$(cat "$work/numbers/1")"
finished
is "that run gives the answer" "$answer" "$heavy_answer"
rm "$file"
begin "$satin" run -n 2 --name again --interval 0.1 --checkpoint "$file" -- "${heavy[@]}"
ok "something is saved again" wait_for $((20 * slow)) has_rows "$file"
"$satin" cancel again >/dev/null 2>&1
ended
deny 9
try "${denied[@]}" "$satin" run -n 3 --checkpoint "$file" -- "${heavy[@]}"
is "if no node can, the run ends with 4" "$code" 4
ok "the message names the place and the nodes that tried" grep -q "elected.ckpt.*Permission denied.*tried by node.*, node.*, node" <<<"$words"
finish

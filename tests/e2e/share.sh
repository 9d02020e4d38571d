#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs that pass their plane as shared bytes: nodes fetch and drop it, die, leave and join, and a run is resumed from the file.
. "$(dirname "$0")/lib.sh"
plane=$SATIN_BIN/../tests/e2e/plane
file=$work/plane.satin
size=100000

figure () { sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$work/stats"; }
kept () { sqlite3 "$file" 'SELECT max (children) FROM keep' 2>/dev/null || echo 0; }
has_kept () { [ "$(kept)" -gt "${1:-0}" ] 2>/dev/null; }
shares () { sqlite3 "$file" "SELECT count (*) FROM constant WHERE name LIKE 'share/%'"; }

long=("$plane" $size 120 8 10)
# Ten times as long, until let_go.
export PLANE_GO=$work/go
held=("$plane" $size 120 8 100)

try "${long[@]}" --workers 8
alone=$answer
is "alone: the answer" "$code:${#alone}" "0:16"
try "$plane" --workers 5 $size 120 5 10
is "the same with other bands" "$answer" "$alone"

try "$satin" run -n 4 -w 1 --stats "$work/stats" -- "${long[@]}"
is "four nodes: the same answer" "$code:$answer:$words" "0:$alone:"
fetched=$(figure shared_fetches)
ok "the nodes fetched from each other" [ "$fetched" -gt 0 ]

# With a limit of 1 KiB nodes drop shared bytes and fetch them again.
try "$satin" run -n 4 -w 1 --shared-memory 1K --stats "$work/stats" -- "${long[@]}"
is "with hardly any memory for shared bytes" "$code:$answer" "0:$alone"
ok "the nodes fetched" [ "$(figure shared_fetches)" -gt 0 ]

begin "$satin" run -n 4 -w 1 --name kill --shared-memory 64K -- "${held[@]}"
ok "four nodes are up" wait_for $((10 * slow)) up kill 4
victim=$(other_of kill)
ok "one has worked" wait_for $((10 * slow)) has_worked kill 0.1 "$victim"
kill -9 "$victim"
ok "three are left" wait_for $((10 * slow)) eval '! up kill 4'
kill -9 "$(master_of kill)" 2>/dev/null
finished
is "a node is killed, then the one that shared the plane: the answer" "$code:$answer" "0:$alone"

begin "$satin" run -n 1 -w 1 --name grows -- "${held[@]}"
ok "one node is up" wait_for $((10 * slow)) up grows 1
first=$(master_of grows)
ok "it has worked" wait_for $((10 * slow)) has_worked grows 0.1
try "$satin" add grows -n 2 -w 1
is "two nodes are added" "$code" 0
ok "three nodes are up" wait_for $((10 * slow)) up grows 3
for added in $(nodes_of grows | awk -v first="$first" '$1 != first { print $1 }'); do
  ok "an added node has worked" wait_for $((10 * slow)) has_worked grows 0.1 "$added"
done
id=$("$satin" status grows --json | tr '{' '\n' | sed -n "s/.*\"id\":\"\([0-9.]*\)\".*\"pid\":$first,.*/\1/p")
try "$satin" leave grows "$id"
is "the first leaves" "$code" 0
finished
is "the added nodes go on when the first leaves" "$code:$answer" "0:$alone"

# All nodes are killed, and the run is resumed on another number of nodes.
begin "$satin" run -n 4 -w 1 --name all --checkpoint "$file" --interval 0.1 -- "${long[@]}"
ok "phases are kept" wait_for $((20 * slow)) has_kept 5
# shellcheck disable=SC2046
kill -9 $(our_nodes) 2>/dev/null
ended
ok "the file is sound" integrity "$file"
ok "it has the shared bytes that its rows use" [ "$(shares)" -ge 1 ]
ok "and not all shared bytes of the run" [ "$(shares)" -le 40 ]
before=$(kept)
ok "satin inspect shows them" grep -q 'shared bytes' <<<"$("$satin" inspect "$file")"
ok "and lists them" grep -q '"shared": *\[' <<<"$("$satin" inspect --json "$file")"
try "$satin" inspect --verify "$file"
is "all rows verify" "$code" 0
begin "$satin" resume "$file" -n 2 -w 1 --name again
ok "the resumed run keeps further phases" wait_for $((20 * slow)) has_kept "$before"
try "$satin" suspend again
ended
is "and is suspended" "$code" 75
try "$satin" resume "$file" -n 3
is "resumed again: the answer" "$code:$answer" "0:$alone"
is "at the end the file has no shared bytes" "$(shares)" 0
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# --trace FILE: one file for all nodes, which a viewer of Chrome traces can read, whichever node dies.
. "$(dirname "$0")/lib.sh"
shapes=$SATIN_BIN/../tests/e2e/shapes
check=$SATIN_BIN/../tests/e2e/check-trace
file=$work/trace.json

lanes () { sed -n 's/^processes .* lanes //p' <<<"$answer"; }
processes () { sed -n 's/^processes \([0-9]*\) .*/\1/p' <<<"$answer"; }
holds () { grep -q "^$1 [1-9]" <<<"$answer"; }
lines () { [ "$(grep -c . "$file" 2>/dev/null)" -gt "$1" ]; }

try "$shapes" --workers 2 --trace "$file" comb 3000 20000
is "a program alone" "$answer" "comb right"
try "$check" "$file"
ok "its trace is JSON and nests" [ "$code" -eq 0 ]
is "with one process" "$(processes)" 1
ok "with a lane for each worker" [ "$(lanes)" -ge 2 ]
ok "with stolen jobs" holds leaf
ok "and idle spans" holds idle

try "$satin" run -n 3 -w 1 --trace "$file" --checkpoint "$work/c.db" --interval 0.1 -- "$shapes" comb 3000 40000
is "three nodes" "$answer" "comb right"
try "$check" "$file"
ok "their trace is JSON and nests" [ "$code" -eq 0 ]
is "with all three nodes" "$(processes)" 3
ok "with lent jobs" holds lent
ok "with scans" holds scan
ok "and publications" holds published

try "$satin" run -n 2 -w 1 -- "$shapes" --trace "$file" comb 3000 20000 --checkpoint "$work/words.db"
is "options among the program's arguments" "$answer" "comb right"
try "$check" "$file"
ok "… hold for the whole run: the trace is JSON and nests" [ "$code" -eq 0 ]
is "with both nodes" "$(processes)" 2
ok "and the checkpoint is there" [ -s "$work/words.db" ]
try "$satin" run -- "$shapes" --interval never comb 3 1
is "a wrong option there: exit code" "$code" 2

choose_heavy
begin "$satin" run -n 3 -w 1 --name traced --trace "$file" -- "${heavy[@]}"
ok "three nodes are up" wait_for $((20 * slow)) up traced 3
ok "the trace grows while they run" wait_for $((20 * slow)) lines 10
kill -9 "$(other_of traced)"
finished
is "a node is killed: the answer" "$answer" "$heavy_answer"
try "$check" "$file" torn
ok "and the trace is still JSON" [ "$code" -eq 0 ]
ok "with the jobs that it had borrowed" holds lost

try "$shapes" --trace "$work" comb 3 1
is "a folder is no trace file" "$code" 1
ok "and the message says so" grep -q "trace file '$work': Is a directory" <<<"$words"
try "$satin" run --trace /nowhere/at/all -- "$shapes" comb 3 1
is "nor is a path in a missing folder" "$code" 1
ok "and the message says so before anything starts" grep -q "trace file '/nowhere/at/all'" <<<"$words"
finish

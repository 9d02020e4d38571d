#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Each of the five laws kept and broken: the consequences are those that apps/README describes.
. "$(dirname "$0")/lib.sh"
laws=$SATIN_BIN/../tests/e2e/laws
file=$work/laws.satin
figure () { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" "$work/stats"; }

# Leaves sleep longer (laws.c) until the run is killed: let_go.
export LAWS_GO=$work/go
hold_back () { rm -f "$file"; hold; }

let_go
# 1. A global variable belongs to one process.
try "$satin" run -n 3 -w 1 -- "$laws" 1 kept
is "1, kept: three nodes count all leaves" "$answer" 60
try "$laws" 1 broken
is "1, broken: alone it seems right" "$answer" 60
try "$satin" run -n 3 -w 1 -- "$laws" 1 broken
ok "1, broken: on three nodes some are missing" [ "${answer:-60}" -lt 60 ]

# 2. Results that were saved for other jobs are not used; the answer is still right.
warned () { grep -c "the saved result at '/[0-9]*' is of no use: the job that is spawned there now is another one" <<<"$words"; }
for way in kept broken; do
  hold_back
  begin "$laws" 2 $way --workers 1 --checkpoint "$file" --interval 0.1
  ok "2, $way: results are saved" wait_for $((20 * slow)) has_rows "$file" 5
  kill -9 "$begun"
  ended
  let_go
  try "$laws" 2 $way --workers 1 --checkpoint "$file" --stats "$work/stats"
  is "2, $way: the answer is right" "$answer" 60
  [ $way = kept ] && ok "2, kept: saved results are used" [ "$(figure jobs_reused)" -ge 5 ]
  [ $way = kept ] && is "2, kept: and all fit" "$(figure unmatched):$(warned)" 0:0
  [ $way = broken ] && is "2, broken: none is used" "$(figure jobs_reused)" 0
  [ $way = broken ] && ok "2, broken: useless results are counted" [ "$(figure unmatched)" -ge 5 ]
  [ $way = broken ] && is "2, broken: one warning says so, with the path" "$(warned)" 1
done
hold_back
begin "$laws" 2 broken --workers 1 --checkpoint "$file" --interval 0.1
ok "2, nodes: results are saved" wait_for $((20 * slow)) has_rows "$file" 5
kill -9 "$begun"
ended
let_go
try "$satin" run -n 3 -w 1 --checkpoint "$file" --stats "$work/stats" -- "$laws" 2 broken
is "2, nodes: the answer is right" "$answer" 60
is "2, nodes: one warning in all" "$(warned)" 1
ok "2, nodes: useless results are counted" [ "$(figure unmatched)" -ge 5 ]

# The same with a job that spawns fewer children than before.
fewer=$SATIN_BIN/../tests/e2e/fewer
for leaves in 60 2; do
  hold_back
  begin "$fewer" --workers 1 --checkpoint "$file" --interval 0.1
  ok "2, $leaves of 60 children: results are saved" wait_for $((20 * slow)) has_rows "$file" 5
  kill -9 "$begun"
  ended
  let_go
  FEWER=$leaves try "$fewer" --workers 1 --checkpoint "$file" --stats "$work/stats"
  [ $leaves = 60 ] && is "2, all children: all fit" "$answer:$(figure unmatched)" 1770:0
  [ $leaves = 2 ] && ok "2, fewer children: useless results are counted" [ "$answer:$(figure unmatched)" != 1:0 ]
  [ $leaves = 2 ] && is "2, fewer children: one warning says so" "$(warned)" 1
done

# 3. The best value outlives the job that found it.
best () { [ "$(sqlite3 "$file" "SELECT value FROM best" 2>/dev/null)" = 42 ]; }
for way in kept broken; do
  rm -f "$file"
  begin "$laws" 3 $way --workers 2 --checkpoint "$file" --interval 0.1
  ok "3, $way: the best value is saved" wait_for $((20 * slow)) best
  kill -9 "$begun"
  ended
  try "$laws" 3 $way --workers 2 --checkpoint "$file" --stats "$work/stats"
  is "3, $way: pruning inside a job causes no warning about the second law" "$(figure unmatched):$(warned)" 0:0
  [ $way = kept ] && is "3, kept: a pruned job returns it" "$answer" 42
  [ $way = broken ] && is "3, broken: it is lost, and the answer is wrong" "$answer" 0
  # Both runs heard of the value, and the ledger has it once.
  is "3, $way: the ledger shows the best value" \
    "$(sqlite3 "$file" "SELECT detail FROM event WHERE kind = 'best'")" "most: found 42"
done
begin "$satin" run -n 2 -w 1 --name best -- "$laws" 3 kept
looks () { "$satin" status best 2>/dev/null | grep -qx '  most found 42'; }
ok "3: satin status shows it" wait_for $((20 * slow)) looks
ok "3: … as JSON too" grep -qF '"best":[{"name":"most","text":"found 42"}]' <<<"$("$satin" status best --json)"
finished

# 4. When the master dies, main runs again on another node and publishes another value.
for way in kept broken; do
  hold_back
  begin "$satin" run -n 3 -w 1 --name main-$way -- "$laws" 4 $way
  ok "4, $way: three nodes are up" wait_for $((20 * slow)) up main-$way 3
  wait_for $((20 * slow)) has_worked main-$way 0.5 # by then the other nodes have the constant
  kill -9 "$(master_of main-$way)"
  let_go
  ended
  [ $way = kept ] && is "4, kept: the new main goes on" "$answer $code" "60 0"
  [ $way = broken ] && is "4, broken: the run ends" "$answer $code" " 1" \
    && ok "4, broken: and Satin says why" \
      grep -q "constant 'start' has another value already: main has to publish the same" <<<"$words"
done

# 5. Memory that is held across a sync is lost when the job is aborted there.
told () { sed -n "s/^$1 //p" <<<"$words"; }
try "$laws" 5 kept --workers 2
kept=$(told kib)
try "$laws" 5 broken --workers 2
if [ -z "${SATIN_SANITIZED-}" ]; then
  ok "5, broken: memory is lost" [ "$(told kib)" -gt $((kept + 10000)) ]
fi

# A mistake that Satin finds at once.
try "$laws" 6 kept
is "a job that syncs" "$answer" 1
try "$laws" 6 broken
ok "a job that does not sync is named" grep -q "a job failed: the job at /, hasty (1): it returned without satin_sync" <<<"$words"
is "… and ends the run at once" "$code" 6

# Jobs register themselves; no list of jobs is needed.
try "$SATIN_BIN/../tests/e2e/numbered"
is "jobs that no list names, alone" "$code:$answer" 0:42
try "$satin" run -n 2 -- "$SATIN_BIN/../tests/e2e/numbered"
is "jobs that no list names, two nodes" "$code:$answer" 0:42
finish

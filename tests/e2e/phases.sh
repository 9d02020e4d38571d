#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs of a million phases that keep each phase: all nodes killed and resumed, alone and on nodes.
. "$(dirname "$0")/lib.sh"
phases=$SATIN_BIN/../tests/e2e/phases
file=$work/phases.satin
million=1000000 spins=400 grains=2000
# The phases of each lane: long enough for a kill.
steps=$((million / 16))
[ -n "${SATIN_SANITIZED-}" ] && million=100000 spins=8000 grains=10000 steps=20000

kept () { sqlite3 "$file" 'SELECT max (children) FROM keep' 2>/dev/null || echo 0; }
has_kept () { [ "$(kept)" -gt "$1" ] 2>/dev/null; }
told () { sed -n "s/^$1 //p" <<<"$words"; }

try "$phases" --workers 2 1 $million $spins
alone=$answer
is "a million phases give an answer" "$code" 0
ok "in constant memory" [ "$(told kib)" -lt $((100 * 1024 * slow)) ]

# The run is killed three times, each time after further phases are kept.
before=0
for i in 1 2 3; do
  begin "$phases" --checkpoint "$file" --interval 0.1 --workers 2 1 $million $spins
  wait_for $((20 * slow)) has_kept "$before" || break
  kill -9 "$begun" 2>/dev/null
  ended
  before=$(kept)
done
ok "kept phases appear in the file, each time more" [ "$before" -gt 0 ]
ok "the checkpoint is sound" integrity "$file"
is "there is one kept row of the lane" "$(sqlite3 "$file" "SELECT count (*) FROM keep WHERE path = '/0'")" 1
is "and there are no rows of earlier phases" \
  "$(sqlite3 "$file" "SELECT count (*) FROM result WHERE CAST (substr (path, 4) AS INTEGER) < $before")" 0
ok "the file is small" [ "$(stat -c %s "$file")" -lt 200000 ]
try "$phases" --checkpoint "$file" --workers 2 1 $million $spins
is "the resumed run gives the same answer" "$answer" "$alone"
is "and computes no kept phase again" "$(told computed)" $((million - before / 2))
ok "still in constant memory" [ "$(told kib)" -lt $((100 * 1024 * slow)) ]
is "the kept rows are removed when the job is done" "$(sqlite3 "$file" 'SELECT count (*) FROM keep')" 0

# Lanes on several nodes.
rm -f "$file"
try "$phases" --workers 2 3 $steps $grains
lanes=$answer
begin "$satin" run -n 3 --name lanes --checkpoint "$file" --interval 0.1 -- "$phases" 3 $steps $grains
ok "nodes keep phases" wait_for $((20 * slow)) has_kept 0
kill -9 "$(other_of lanes)" 2>/dev/null
ended
is "with a node killed: the answer" "$answer" "$lanes"

rm -f "$file"
begin "$satin" run -n 3 --name all --checkpoint "$file" --interval 0.1 -- "$phases" 3 $steps $grains
ok "nodes keep phases again" wait_for $((20 * slow)) has_kept 0
# shellcheck disable=SC2046
kill -9 $(our_nodes) 2>/dev/null
ended
try "$satin" resume "$file" -n 2
is "resumed on two nodes: the answer" "$answer" "$lanes"
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The exit code and output of main are those of a program without Satin, however main ends. A main that ends only its thread has
# failed, since Satin's own threads would run for ever. A main that continues in a process that it forked has failed, too:
# Satin's threads are not in that process.
. "$(dirname "$0")/lib.sh"
ends=$SATIN_BIN/../tests/e2e/ends

for way in 'return:0:610' 'exit:0:610' 'closed:0:610' 'fork:0:610' 'minus:255:' 'large:3:' 'thread:1:610' 'daemon:1:'; do
  IFS=: read -r how wanted said <<<"$way"
  try "$ends" "$how"
  is "alone, $how: exit code and answer" "$code:$answer" "$wanted:$said"
  try "$ends" --checkpoint "$work/$how.db" "$how"
  is "with a checkpoint, $how: exit code and answer" "$code:$answer" "$wanted:$said"
  try "$satin" run -n 2 -- "$ends" "$how"
  is "on two nodes, $how: exit code and answer" "$code:$answer" "$wanted:$said"
  if [ "$how" = daemon ]; then
    ok "on two nodes, $how: the reason is shown" grep -q "satin_root was called in a process that main has forked" <<<"$words"
  fi
  if [ "$how" = thread ]; then
    ok "on two nodes, $how: the reason is shown" grep -q "pthread_exit" <<<"$words"
  fi
done
# The output of a program alone without a checkpoint is not held back, so quick_exit does not lose it.
try "$ends" quick
is "alone, quick: exit code and answer" "$code:$answer" 0:610
try "$ends" --checkpoint "$work/quick.db" quick
is "with a checkpoint, quick: exit code" "$code" 1
try "$satin" run -n 2 -- "$ends" quick
is "on two nodes, quick: exit code" "$code" 1
ok "… the reason is shown" grep -q "main ended by quick_exit" <<<"$words"

# The processor time of all nodes, in clock ticks.
our_ticks () { cat $(our_nodes | sed 's|.*|/proc/&/stat|') 2>/dev/null | sed 's/.*) //' | awk '{ n += $12 + $13 } END { print n + 0 }'; }

# A main whose run is stopped, and that takes longer to end than a process is otherwise given.
for how in suspend cancel; do
  begin "$satin" run -n 2 -w 1 --name slow --checkpoint "$work/slow-$how.db" -- "$ends" so-far "$work/$how"
  ok "$how: two nodes are up" wait_for $((10 * slow)) up slow 2
  "$satin" $how slow >"$work/told" 2>&1 &
  ok "$how: the run has ended" wait_for $((20 * slow)) test -s "$runs/slow/end"
  before=$(our_ticks)
  sleep 7 # 2 s for a process to end by itself, 5 s until the launcher ends it
  ok "$how: meanwhile no job runs" [ $(($(our_ticks) - before)) -lt 100 ]
  touch "$work/$how"
  ended
  ok "$how: what main prints then is shown" grep -q "^ends: so far$" <<<"$words"
done
finish

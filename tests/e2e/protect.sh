#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The same crash under each plan of protection, with real processes: the answer is right under all, and what the file
# holds of the dead node is used. How many jobs each plan executes again is measured where time stands still: tests/sim.
. "$(dirname "$0")/lib.sh"
naps=("$SATIN_BIN/sleep" 20 --depth 9)
figure () { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$work/stats"; }
more () { awk "BEGIN { exit !($1 > $2) }"; }

# By the node that is to die, or in the file by all three.
much_is_done () # PLAN PID
{
  case $1 in
    checkpoint) [ "$(sqlite3 "$work/p.satin" "SELECT total (work_s) > 3 FROM result" 2>/dev/null)" = 1 ] ;;
    *) has_worked crash 1 "$2" ;;
  esac
}

# Kills a node that is not the master once the run is well on its way.
crash () # PLAN OPTION…
{
  local plan=$1 victim
  shift
  begin "$satin" run -n 3 -w 1 --name crash --stats "$work/stats" --protect "$plan" "$@" -- "${naps[@]}"
  ok "$plan: three nodes are up" wait_for $((10 * slow)) up crash 3
  victim=$(other_of crash)
  ok "$plan: much is done" wait_for $((20 * slow)) much_is_done "$plan" "$victim"
  # On a machine at work it may have become coordinator.
  victim=$(nodes_of crash | awk '!/"master"/ && !/"coordinator"/ { print $1; exit }')
  kill -9 "$victim"
  ended
  is "$plan: the answer" "$answer" "leaves 512"
  is "$plan: one crash" "$(figure crashes)" 1
  ok "$plan: what it cost is in the ledger" more "$(figure lost_s)" 0
}

crash naive
ok "naive: nothing is salvaged" [ "$(figure salvaged_s)" = 0 ]
crash orphan
crash checkpoint --checkpoint "$work/p.satin" --interval 0.3
# In the published Satin what the file holds of a crashed node was never looked up (S2).
ok "S2, checkpoint: work of the dead node is salvaged" more "$(figure salvaged_s)" 0.3
ok "checkpoint: less is lost than was done in an interval and a few leaves" more 1.5 "$(figure lost_s)"
ok "each slot that came back has a row" [ "$(sqlite3 "$work/p.satin" \
  "SELECT count (*) FROM event WHERE kind = 'requeued' AND work_s > 0 AND path IS NOT NULL")" -ge 1 ]
is "with the sum of the losses" "$(sqlite3 "$work/p.satin" \
  "SELECT abs (total (work_s) - $(figure lost_s)) < 0.01 FROM event WHERE kind = 'requeued'")" 1
is "who left is in the ledger" "$(sqlite3 "$work/p.satin" "SELECT count (*) FROM event WHERE kind = 'left'")" 1

try "$satin" run --protect never -- "${naps[@]}"
is "an unknown plan is refused" "$code" 2
try "$satin" run --protect checkpoint -- "${naps[@]}"
is "checkpoint needs a file" "$code" 2
try "$satin" run --protect naive --checkpoint "$work/q.satin" -- "${naps[@]}"
is "naive takes none" "$code" 2
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# satin run --verify: results of other nodes are computed twice, and a node that computes wrong results ends the run.
. "$(dirname "$0")/lib.sh"
wrong=$(realpath "$SATIN_BIN/../tests/e2e/wrong")
stat_of () { grep -o "\"$1\": [0-9.]*" "$work/stats" | cut -d' ' -f2; }
sum=$(awk 'BEGIN { for (i = 0; i < 64; i++) s += i * i; print s }')

# Nothing is wrong.
try "$satin" run -n 3 -w 1 --verify 1 --stats "$work/stats" -- "$wrong" 6 20
is "all results twice: exit code" "$code" 0
is "… the answer" "$answer" "$sum"
ok "… results were compared" [ "$(stat_of verified)" -gt 0 ]
try "$satin" run -n 3 -w 1 --stats "$work/stats" -- "$wrong" 6 5
is "without --verify no result is compared" "$(stat_of verified)" 0

# A node dies in the middle.
begin "$satin" run -n 3 -w 1 --name kill --verify 1 --stats "$work/stats" -- "$wrong" 6 40
ok "nodes work" wait_for $((20 * slow)) up kill 3
kill -9 "$(other_of kill)"
ended
is "a node dies: exit code" "$code" 0
is "… the answer" "$answer" "$sum"

# One node computes wrong.
export WRONG_CLAIM=$work/claim
try "$satin" run -n 3 -w 1 --verify 1 -- "$wrong" 6 20
is "one node computes wrong: exit code" "$code" 6
is "… there is no answer" "$answer" ""
ok "… both nodes and both results are named" grep -q -E \
  'the job at /[0-9/]+, squares \([0-9]+, 20, [0-9]+\), has two results: [0-9]+ from node 1\.[0-9] and [0-9]+ from node 1\.[0-9]\. ' \
  <<<"$words"
unset WRONG_CLAIM

# Results of the checkpoint. The wrong ones come from a node of an earlier run.
suspended right "$work/right.db" "$wrong" 6 40
try "$satin" resume "$work/right.db" -n 2 -w 1 --verify 1 --stats "$work/stats"
is "right results of a checkpoint: exit code" "$code" 0
is "… the answer" "$answer" "$sum"
export WRONG_ALL=1
suspended saved "$work/saved.db" "$wrong" 6 40
unset WRONG_ALL
try "$satin" resume "$work/saved.db" -n 2 -w 1 --verify 1
is "wrong results of a checkpoint: exit code" "$code" 6
is "… there is no answer" "$answer" ""
ok "… both nodes and both results are named" grep -q -E \
  'the job at /[0-9/]+, squares \([0-9]+, 40, [0-9]+\), has two results: [0-9]+ from node [0-9.]+, as saved, and [0-9]+ from node [0-9.]+\. ' \
  <<<"$words"

# Results that a node computed itself, of jobs that cannot be stolen: another node computes them again.
try "$satin" run -n 2 -w 1 --verify 1 --stats "$work/stats" -- "$wrong" 20 100 chain
is "jobs of one node: exit code" "$code" 0
is "… the answer" "$answer" 2470
ok "… results were compared" [ "$(stat_of verified)" -gt 5 ]
differs='the job at /[0-9]+, squares \(0, 100, [0-9]+\), has two results: [0-9]+ from node 1\.[0-9] and [0-9]+ from node 1\.[0-9]\. '
WRONG_CLAIM=$work/claim3 try "$satin" run -n 2 -w 1 --verify 1 -- "$wrong" 20 100 chain
is "… that computes wrong: exit code" "$code" 6
is "… there is no answer" "$answer" ""
ok "… both nodes and both results are named" grep -q -E "$differs" <<<"$words"
WRONG_TIME=1 try "$satin" run -n 2 -w 1 --verify 1 -- "$wrong" 20 100 chain
is "results that depend on the time: exit code" "$code" 6
is "… there is no answer" "$answer" ""
ok "… both nodes and both results are named" grep -q -E "$differs" <<<"$words"

# Wrong usage.
for bad in 0 1.5 -1 x ''; do
  try "$satin" run -n 2 --verify "$bad" -- "$wrong" 1 1
  is "--verify '$bad': exit code" "$code" 2
  ok "… one message" one_line
done
try "$satin" run --verify 1 -- "$wrong" 1 1
is "one node: exit code" "$code" 2
ok "… one message" one_line
try "$satin" resume "$work/none.db" -n 1 --verify 1
is "… of a resume: exit code" "$code" 2
ok "… one message" one_line
try "$satin" run -n 2 --verify 1 --protect cut --checkpoint "$work/c.db" -- "$wrong" 1 1
is "with --protect cut: exit code" "$code" 2
ok "… one message" one_line
try "$satin" run -n 2 --verify 1 -- "$SATIN_BIN/knapsack" 20
is "a program with best values: exit code" "$code" 2
ok "… one message" grep -q 'SATIN_BEST' <<<"$words"
finish

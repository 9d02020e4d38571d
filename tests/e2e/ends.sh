#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# However main ends, its exit code and what it printed are those of a program without Satin; one that ends its
# thread alone has failed, since Satin's own threads would go on for ever; so has one that goes on in a process that it forked,
# where none of them is.
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
    ok "on two nodes, $how: it is said" grep -q "satin_root was called in a process that main has forked" <<<"$words"
  fi
  if [ "$how" = thread ]; then
    ok "on two nodes, $how: it is said" grep -q "pthread_exit" <<<"$words"
  fi
done
# Nothing is held back of a program alone.
try "$ends" quick
is "alone, quick: exit code and answer" "$code:$answer" 0:610
try "$ends" --checkpoint "$work/quick.db" quick
is "with a checkpoint, quick: exit code" "$code" 1
try "$satin" run -n 2 -- "$ends" quick
is "on two nodes, quick: exit code" "$code" 1
ok "… it is said" grep -q "main ended by quick_exit" <<<"$words"
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job that ends every process that runs it soon ends the run with 6. The message has its path and arguments. The checkpoint
# stays, and a mended program can resume it. Deaths without a crash report never end a run.
. "$SATIN_SOURCE/tests/e2e/lib.sh"

bomb=$SATIN_BIN/../tests/e2e/bomb
if [ -n "${SATIN_SANITIZED-}" ]; then
  skip "crash reports" "the sanitizers have handlers of their own"
  finish
fi
ulimit -c 0

# The message names leaf 777 of 2,048 by its path.
about_the_leaf ()
{
  grep -q ": the job at /0/1/1/0/0/0/0/1/0/0/1, bomb (0, 777, 777, [0-9]*, [0-9]*): $1\$" <<<"$words"
}

# The message names that leaf, or a job above it, whose arguments begin with its depth and number.
about_the_leaf_or_above ()
{
  local depth leaf
  for depth in 0 1 2 3 4 5 6 7 8 9 10 11; do
    leaf=$((777 >> depth))
    about_the_leaf "$1" && return
    grep -q ": the job at /[0-9/]*, bomb ($depth, $leaf, 777, [0-9]*, [0-9]*), or one below it: $1\$" <<<"$words" && return
  done
  return 1
}

processes_lost ()
{
  grep -c '^satin: node [0-9]* died' <<<"$words"
}

for how in 'segv:segmentation fault' 'abort:abort' 'fpe:arithmetic fault' 'thread:it ended its thread' 'error:trap, as by g_error'; do
  try "$bomb" "${how%%:*}" 777 0 11
  is "alone, ${how%%:*}: exit code" "$code" 6
  ok "alone, ${how%%:*}: path, arguments and cause are named" about_the_leaf "${how#*:}"
  ok "… and a backtrace follows" grep -q 'bomb(+0x[0-9a-f]*)\[0x[0-9a-f]*\]$' <<<"$words"
done
# Such a job is not run again to find the innermost job.
for how in 'deep:the C stack of a job is full: the recursion is too deep' 'exit:it called exit' 'quick:it called exit'; do
  try "$bomb" "${how%%:*}" 777 0 11
  is "alone, ${how%%:*}: exit code" "$code" 6
  ok "alone, ${how%%:*}: a job, arguments and cause are named" about_the_leaf_or_above "${how#*:}"
done

# After that Satin cannot find out which job it was.
closed='satin: a job has closed descriptors that are not its own'
try "$bomb" close 777 0 11
is "alone, all descriptors closed: the message" "$code:$words" "6:$closed"
try "$satin" run -n 2 --checkpoint "$work/closed.db" -- "$bomb" close 777 0 11
is "two nodes, all descriptors closed: exit code" "$code" 1
is "… each says so" "$(grep -c "closed descriptors" <<<"$words")" 2

try "$satin" run -n 6 --checkpoint "$work/c.db" --interval 0.2 -- "$bomb" segv 777 2 11
is "six nodes: exit code" "$code" 6
ok "path, arguments and cause are named" about_the_leaf 'segmentation fault'
ok "it says that three processes ended" grep -q 'a job ends every process that runs it, three so far' <<<"$words"
ok "the logs have backtraces" grep -q 'bomb(+0x[0-9a-f]*)\[0x' "$runs"/*/node-*
ok "… which the launcher does not show" [ "$(grep -c '\[0x' <<<"$words")" -eq 0 ]
ok "no more than four processes ended" [ "$(processes_lost)" -le 4 ]
is "no answer" "$answer" ''
ok "it says how to look at the job" grep -qF "\`satin replay $work/c.db PATH\` runs the job at PATH again, alone" <<<"$words"
ok "the checkpoint is whole" "$satin" inspect --verify "$work/c.db"
BOMB_MENDED=1 try "$satin" resume "$work/c.db" -n 2
is "the mended program finishes it" "$answer" 2048
is "… exit code" "$code" 0

rm -f "$work/early.db"
try "$satin" run -n 1 --workers 1 --checkpoint "$work/early.db" --interval 600 -- "$bomb" abort 0 0 1
is "a job that crashes before the first publication: exit code" "$code" 6
ok "… no checkpoint is there" [ ! -e "$work/early.db" ]
ok "… and the message says so, and what to do" grep -q '^satin: nothing was published before that, so there is nothing to resume or replay: ' <<<"$words"
try "$satin" run -n 2 --workers 2 -- "$bomb" abort 777 1 11
is "two nodes: exit code" "$code" 6
ok "the job is named" about_the_leaf abort
try "$satin" run -n 2 --workers 2 -- "$bomb" exit 777 1 11
is "two nodes whose job calls exit: exit code" "$code" 6
is "… no answer" "$answer" ''
ok "… the job is named" about_the_leaf_or_above 'it called exit'

try "$satin" run -n 2 --workers 2 -- "$bomb" thread 777 1 11
is "two nodes whose job ends its thread: exit code" "$code" 6
ok "… the job is named" about_the_leaf 'it ended its thread'

# A node ends because a thread that its job started calls abort: its message is shown, the run goes on, its log stays.
try "$satin" run -n 2 --workers 2 -- "$bomb" once 777 1 11
is "one node ends: the other goes on" "$answer $code" "2048 0"
ok "… its last message is repeated" grep -q 'the bomb said so once' <<<"$words"
ok "… and its log stays" grep -q 'the bomb said so once' "$runs"/*/node-*.log
rm -rf "${runs:?}"/*

# Satin does not know which job started the thread. But exit code 0 would mean that there is an answer.
try "$bomb" helper 777 0 11
is "alone, a thread calls exit (0): exit code" "$code" 1
ok "… and the message says so" grep -q 'the program called exit (0) while satin_root waited' <<<"$words"
try "$satin" run -n 2 --workers 2 -- "$bomb" helper 777 1 11
is "two nodes, a thread calls exit (0): exit code" "$code $answer" "1 "
ok "… and the message says so" grep -q 'the program called exit (0) while satin_root waited' <<<"$words"

rm -f "$work/c.db"
try "$satin" run -n 4 --checkpoint "$work/c.db" --interval 0.2 -- "$bomb" kill 777 2 11
is "all nodes die by kill -9: exit code" "$code" 1
is "all nodes died" "$(processes_lost)" 4
BOMB_MENDED=1 try "$satin" resume "$work/c.db" -n 3
is "the mended program resumes the checkpoint" "$answer" 2048

try "$satin" run -n 2 -- "$bomb" fork 777 1 11
is "a process that a job forks may end in any way" "$answer $code" "2048 0"
is "… and no message is shown" "$words" ''
finish

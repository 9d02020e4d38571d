#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# satin_fail: the run ends with 6 at once. The message names path, arguments and reason. The checkpoint stays. No process dies.
. "$SATIN_SOURCE/tests/e2e/lib.sh"

bomb=$SATIN_BIN/../tests/e2e/bomb
sentence='satin: a job failed: the job at /0/1/1/0/0/0/0/1/0/0/1, bomb (0, 777, 777, [0-9]*, [0-9]*): leaf 777 of 2048 is bad'

names_the_job () { grep -qx "$sentence" <<<"$words"; }
has_results () { [ "$(sqlite3 "$1" 'SELECT count(*) FROM result' 2>/dev/null || echo 0)" -gt 0 ]; }
is_whole () { "$satin" inspect --verify "$1" >/dev/null; }
lost_none () { ! grep -q 'died' <<<"$words"; }

try "$bomb" fail 777 0 11
is "alone: exit code" "$code:$answer" "6:"
ok "… the job is named" names_the_job
is "… once, and there is no other message" "$(wc -l <<<"$words")" 1

try "$satin" run -n 3 --workers 2 -- "$bomb" fail 777 1 11
is "three nodes: exit code" "$code:$answer" "6:"
ok "… the job is named" names_the_job
ok "… no node died" lost_none

# A node is killed before the leaf fails.
begin "$satin" run -n 3 --workers 2 --checkpoint "$work/c.db" --interval 0.2 -- env BOMB_GO="$work/go" "$bomb" fail 777 50 11
ok "with a checkpoint: something is saved" wait_for $((60 * slow)) has_results "$work/c.db"
kill -9 "$(our_nodes | tail -n 1)"
touch "$work/go"
ended
is "… a node is killed, then a job fails: exit code" "$code:$answer" "6:"
ok "… the job is named" names_the_job
ok "… the checkpoint is whole" is_whole "$work/c.db"
try "$satin" resume "$work/c.db" -n 2
is "… a resume fails in the same way" "$code" 6
ok "… with the same message" names_the_job
BOMB_MENDED=1 try "$satin" resume "$work/c.db" -n 2
is "… the mended program finishes it" "$code:$answer" "0:2048"

rm -f "$work/go"
begin env BOMB_GO="$work/go" "$bomb" --checkpoint "$work/a.db" --interval 0.2 --workers 4 fail 777 20 11
ok "alone with a checkpoint: something is saved" wait_for $((60 * slow)) has_results "$work/a.db"
touch "$work/go"
ended
is "… exit code" "$code:$answer" "6:"
ok "… the job is named" names_the_job
BOMB_MENDED=1 BOMB_GO="$work/go" try "$bomb" --checkpoint "$work/a.db" fail 777 20 11
is "… the mended program finishes it" "$code:$answer" "0:2048"
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `satin run --dry-run` shows what would be started, and starts and changes nothing.
. "$(dirname "$0")/lib.sh"

try "$satin" run --dry-run -n 3 -w 2 -- "$SATIN_BIN/fib" 'a b'
is "it ends at once" "$code" 0
is "the plan has three nodes" "$(grep -c "^[123]: site local, host this one, workers 2: .*/fib 'a b'\$" <<<"$answer")" 3
is "… no checkpoint" "$(head -n 1 <<<"$answer")" "checkpoint: none"
is "… and says that nothing was started" "$(tail -n 1 <<<"$answer")" "nothing was started"
is "there is no folder of a run" "$(ls -A "$runs" 2>/dev/null)" ""

echo old >"$work/c.db"
try "$satin" run --dry-run --new --checkpoint "$work/c.db" --interval 3 -- "$SATIN_BIN/fib" 1
is "with a checkpoint" "$code" 0
is "its place and interval are shown" "$(head -n 1 <<<"$answer")" "checkpoint: $work/c.db, each 3 s"
is "the file at that place is unchanged" "$(cat "$work/c.db")" old
try "$satin" run --dry-run --checkpoint "$work/none.db" -- "$SATIN_BIN/fib" 1
ok "a checkpoint is not made" [ ! -e "$work/none.db" ]

cat >"$work/sites" <<END
[site near]
launcher = local
nodes = 2
[site far]
launcher = ssh
hosts = one two:2
workers = 7
program = /opt/fib
END
try "$satin" run --dry-run --sites "$work/sites" -- "$SATIN_BIN/fib" 1
is "with sites" "$code" 0
is "the nodes of each are counted" "$(sed -n 2p <<<"$answer")" "nodes: 5"
ok "one is reached by ssh" grep -qE '^[0-9]: site far, host one, workers 7: ssh .* one .*/opt/fib' <<<"$answer"
is "another has two" "$(grep -c '^[0-9]: site far, host two, workers 7: ssh ' <<<"$answer")" 2

try "$satin" run --dry-run -- "$work/no-program"
is "what run would refuse is refused" "$code" 1
try "$satin" resume --dry-run "$work/c.db"
is "resume has no such option" "$code" 2
finish

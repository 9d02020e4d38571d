#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Commands to a run in progress: save, wait, log, cancel. SIGUSR1, the warning of a batch system. How long a suspend waits.
. "$(dirname "$0")/lib.sh"
file=$work/c.satin

choose_heavy
# One leaf that runs longer than the whole test.
nap=("$SATIN_BIN/sleep" $((600 * 1000)) --depth 0)
events () { sqlite3 "$file" "SELECT count (*) FROM event WHERE kind = '$1'" 2>/dev/null || echo 0; }
saved_work () { sqlite3 "$file" 'SELECT total (work_s) >= 0.1 FROM result' 2>/dev/null; }

begin "$satin" run -n 2 -w 1 --name ctl --checkpoint "$file" --interval 600 -- "${heavy[@]}"
ok "two nodes are up" wait_for $((10 * slow)) up ctl 2
ok "status shows the work at risk" wait_for $((20 * slow)) has_worked ctl 0.5
try "$satin" save ctl
is "satin save returns" "$code" 0
ok "it names the generation" grep -q "is saved in .* (generation [0-9]" <<<"$words"
ok "finished jobs are published although no interval has passed" has_rows "$file"
is "with the cost of the jobs" "$(saved_work)" 1
ok "the file is sound" integrity "$file"
# On a busy machine the coordinator may be so slow that there is another election.
is "joins are in the ledger" "$(sqlite3 "$file" "SELECT count (DISTINCT node) FROM event WHERE kind = 'joined'")" 2
ok "the election is in the ledger" [ "$(events elected)" -ge 1 ]
ok "the publications are in the ledger" [ "$(events published)" -ge 1 ]
try "$satin" log ctl
ok "satin log shows what the nodes wrote" grep -q "this node is master" <<<"$answer"
id=$(nodes_of ctl | awk '!/"master"/ { print $1; exit }')
try "$satin" log ctl "$id"
ok "satin log shows one node" grep -q "joined as node" <<<"$answer"
ok "… and only that node" [ "$(grep -c "this node is master" <<<"$answer")" = 0 ]
try "$satin" log ctl 9.9
is "an unknown node has no log" "$code" 1
"$satin" log ctl --follow >"$work/followed" 2>&1 &
follower=$!
"$satin" wait ctl >"$work/waited" 2>&1 &
waiter=$!
stays () { [ "$(find "$runs/ctl" -name '*.stays' | wc -l)" -ge "$1" ]; }
ok "both register in the run's folder" wait_for $((10 * slow)) stays 2
kill -USR1 "$begun"
ended
is "SIGUSR1 to the launcher suspends" "$code" 75
wait $waiter
is "satin wait gives the run's exit code" "$?" 75
wait_for 5 gone $follower
ok "satin log --follow ends with the run" gone $follower
ok "satin log --follow showed what was written" grep -q "joined as node" "$work/followed"
ok "the last reader removes the folder" wait_for 5 [ ! -e "$runs/ctl" ]

chmod a-w "$file"
before=$(sha256sum "$file")
cp "$file" "$work/other.satin"
try "$satin" resume "$file" --checkpoint "$work/other.satin"
is "a resume does not write over another file" "$code" 4
begin "$satin" resume "$work/other.satin" --checkpoint "file://$work/./other.satin" -n 2 -w 1 --name same
ok "a resume at another name of the same place goes on" wait_for $((10 * slow)) up same 2
is "… with the plain path as its checkpoint" "$("$satin" status same --json | grep -cF "\"checkpoint\":\"$work/other.satin\"")" 1
try "$satin" cancel same
ended
is "… and can be cancelled" "$code" 7
begin "$satin" resume "$file" --checkpoint "$work/d.satin" -n 3 -w 1 --name ctl --interval 600
ok "a read-only file is resumed at another place" wait_for $((10 * slow)) up ctl 3
launcher=$begun
kill -9 "$launcher"
wait "$launcher" 2>/dev/null
try "$satin" status "$work/d.satin"
ok "status finds a run without launcher by its checkpoint's place" grep -q '^ctl ' <<<"$answer"
hears_elsewhere () # when the nodes are published
{
  try env XDG_STATE_HOME="$work/elsewhere" "$satin" status "file://$work/d.satin"
  grep -q "^satin: checkpoint '$work/d.satin' is in use by run 'ctl' on .*: ask there" <<<"$words"
}
ok "status without the run's folder says where the run is" wait_for $((10 * slow)) hears_elsewhere
try_freed "$satin" wait "$work/d.satin"
is "satin wait shows the answer in place of the dead launcher" "$answer" "$heavy_answer"
is "with exit code 0" "$code" 0
is "the first file is as it was" "$(sha256sum "$file")" "$before"
is "the other file is finished" "$(sqlite3 "$work/d.satin" 'SELECT state FROM progress')" finished
ok "the run's folder is removed" wait_for 5 [ ! -e "$runs/ctl" ]
try "$satin" status "$work/d.satin"
is "status of a checkpoint that no run uses" "$code:$words" \
  "1:satin: no run works on '$work/d.satin' (\`satin inspect\` shows what is in it)"
cp "$work/d.satin" "$work/idle.satin"
for verb in suspend save cancel wait log add "leave --site a"; do
  # shellcheck disable=SC2086
  try "$satin" $verb "$work/idle.satin"
  ok "$verb of a checkpoint that no run uses" grep -q "no run works on '$work/idle.satin'" <<<"$words"
done

begin "$satin" run -n 2 -w 1 --name long --checkpoint "$work/long.satin" -- "${nap[@]}"
ok "a run with one endless leaf is up" wait_for $((10 * slow)) up long 2
ok "the leaf has begun" wait_for $((10 * slow)) eval '[ "$("$satin" jobs long 2>/dev/null | grep -c /)" -ge 1 ]'
try "$satin" save long --within 0.5
is "save --within does not wait for it either" "$code" 0
ok "and names the node that runs the leaf" grep -q "did not poll in time: 1\.[12]\$" <<<"$words"
try timeout $((15 * slow)) "$satin" suspend long --within 0.5 # without, it waits for 20 s
is "suspend --within does not wait for the leaf" "$code" 0
ended
is "the run exits with 75" "$code" 75

begin "$satin" run -n 2 -w 1 --name gone --checkpoint "$work/gone.satin" -- "${heavy[@]}"
ok "another run is up" wait_for $((10 * slow)) up gone 2
ok "with a checkpoint" wait_for $((10 * slow)) [ -e "$work/gone.satin" ]
try "$satin" cancel gone
is "satin cancel ends it" "$code" 0
ended
is "its exit code is 7" "$code" 7
is "it has no answer" "$answer" ""
is "and says why, once" "$(grep -c cancelled <<<"$words")" 1
ok "the checkpoint stays" integrity "$work/gone.satin"

begin "$satin" run -n 2 -w 1 --name both --checkpoint "$work/both.satin" -- "${nap[@]}"
ok "a run with one endless leaf is up again" wait_for $((10 * slow)) up both 2
"$satin" suspend both 2>"$work/overtaken" &
overtaken=$!
ok "satin suspend waits" wait_for $((5 * slow)) eval 'compgen -G "$runs/both/*.stays" >/dev/null'
try "$satin" cancel both
is "satin cancel does not wait for the suspension" "$code" 0
wait "$overtaken"
is "satin suspend reports that the run was cancelled first" "$?:$(cat "$work/overtaken")" \
  "7:satin: run 'both' is cancelled, before it could be suspended; what was saved is kept in $work/both.satin"
ended
is "the run was cancelled" "$code" 7

begin "${heavy[@]}" --workers 2 --checkpoint "$work/solo.satin" --interval 600
ok "a program alone runs" wait_for $((10 * slow)) [ -e "$work/solo.satin" ]
kill -USR1 "$begun"
ended
is "SIGUSR1 suspends it" "$code" 75

begin "${heavy[@]}" --workers 2 --checkpoint "$work/soon.satin"
ok "another program alone runs" wait_for $((10 * slow)) eval 'compgen -G "$runs/held-*/run" >/dev/null'
"$satin" wait "$(ls "$runs")" >"$work/waited" 2>&1 &
waiter=$!
ok "satin wait waits" wait_for $((10 * slow)) eval 'compgen -G "$runs/held-*/*.stays" >/dev/null'
finished
wait "$waiter"
is "satin wait does not show its answer" "$?:$(cat "$work/waited")" "0:"
is "the program shows it" "$code:$answer" "0:$heavy_answer"

# A launcher that is stopped and then killed does not see the end.
begin "$satin" run -n 2 -w 1 --name stands --checkpoint "$work/stands.satin" -- "${heavy[@]}"
ok "two nodes of a launcher that will be stopped" wait_for $((10 * slow)) up stands 2
launcher=$(sed -n 's/^launcher_pid=//p' "$runs/stands/run")
kill -STOP "$launcher"
"$satin" wait stands >"$work/waited" 2>&1 &
waiter=$!
ok "satin wait waits beside the launcher" wait_for $((10 * slow)) eval 'compgen -G "$runs/stands/*.stays" >/dev/null'
let_go
ok "the run ends" wait_for $((20 * slow)) test -e "$runs/stands/end"
hold
kill -9 "$launcher"
wait "$waiter"
is "satin wait shows the answer in its place" "$?:$(cat "$work/waited")" "0:$heavy_answer"
ended

# All nodes are killed. Nodes of other hosts might have gone on, and their end is not known here.
begin "$satin" run -n 2 -w 1 --name unknown --checkpoint "$work/unknown.satin" -- "${heavy[@]}"
ok "two nodes with a checkpoint" wait_for $((10 * slow)) eval 'up unknown 2 && [ -e "$work/unknown.satin" ]'
"$satin" wait unknown >"$work/waited" 2>&1 &
waiter=$!
ok "satin wait waits for run 'unknown'" wait_for $((10 * slow)) eval 'compgen -G "$runs/unknown/*.stays" >/dev/null'
# shellcheck disable=SC2046
kill -9 "$begun" $(our_nodes)
wait "$waiter"
is "satin wait says how to learn more" "$?:$(cat "$work/waited")" "1:satin: all nodes of 'unknown' are gone, and none has recorded \
here that the run had ended: \`satin resume $work/unknown.satin\` goes on, or shows the answer"
ended

# SIGUSR1 while the launcher still starts nodes.
begin "$satin" run -n 16 -w 1 --name soon --checkpoint "$work/soon.satin" -- "${heavy[@]}"
until compgen -G "$runs/soon/node-*.log" >/dev/null || gone "$begun"; do :; done
kill -USR1 "$begun"
ended
is "SIGUSR1 before all nodes are started suspends, too" "$code" 75

# A warning that comes after the answer has no effect.
late () # COMMAND…
{
  : >"$work/begun.answer"
  begin "$@"
  wait_for $((20 * slow)) test -s "$work/begun.answer"
  while kill -USR1 "$begun" 2>/dev/null && ! gone "$begun"; do
    kill -TERM "$begun" 2>/dev/null
  done
  ended
  [ "$code" -eq 0 ]
}
for _ in 1 2 3; do
  ok "warnings after the answer do not change the exit code" late "$satin" run -n 2 -w 1 -- "$SATIN_BIN/fib" 20
done
ok "… nor that of a program alone" late "$SATIN_BIN/fib" 20 --workers 2 --checkpoint "$work/late.satin"

try "$satin" cancel nosuchrun
is "cancel of an unknown run: exit code" "$code" 1
try "$satin" suspend a b
is "suspend of two runs: exit code" "$code" 2
try "$satin" suspend a --within soon
is "seconds that are no number: exit code" "$code" 2
finish

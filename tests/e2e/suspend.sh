#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Three ways to suspend a run, and resumes with other numbers of nodes.
. "$(dirname "$0")/lib.sh"
choose_heavy
file=$work/stop.satin

begin "$satin" run -n 3 --steal mw --name stop --checkpoint "$file" --interval 60 -- "${heavy[@]}"
ok "three nodes are up" wait_for $((10 * slow)) up stop 3
ok "the nodes have worked" wait_for $((10 * slow)) has_worked stop 0.5
# In the published Satin there was no such command (S3), and the coordinator would have failed (S4).
try "$satin" suspend stop
is "S3: satin suspend succeeds" "$code" 0
ended
is "S4: the suspended run exits with 75" "$code" 75
is "it has no answer" "$answer" ""
ok "the message says how to resume" grep -q "satin resume" <<<"$words"
ok "finished jobs are saved although no interval has passed" has_rows "$file"
ok "the file is sound" integrity "$file"
ok "the folder of the run is removed" [ ! -e "$runs/stop" ]

begin "$satin" resume "$file" -n 4 --interval 60
ok "four nodes resume it" wait_for $((10 * slow)) up stop 4
ok "with the same policy of stealing" grep -qx steal=mw "$runs/stop/run"
kill -TERM "$begun"
ended
is "SIGTERM suspends" "$code" 75

# In its own session, so that the signal reaches the launcher's process group, as Ctrl-C in a terminal does.
begin setsid --wait "$satin" resume "$file" -n 2 --steal rs --name again
ok "two nodes resume it" wait_for $((10 * slow)) up again 2
ok "with the policy of stealing that was given now" grep -qx steal=rs "$runs/again/run"
launcher=$(sed -n 's/^launcher_pid=//p' "$runs/again/run")
kill -INT -- "-$launcher" 2>/dev/null || kill -INT "$launcher"
ended
is "Ctrl-C suspends" "$code" 75
is "there is no answer" "$answer" ""

try_freed "$satin" resume "$file" -n 1
is "one node finishes" "$answer" "$heavy_answer"
is "… with exit code 0" "$code" 0

# Finished jobs are not run again: 2^12 - 1 jobs, in two parts; in the second leaves do not sleep.
export NAPS_HASTE=$work/haste
executed () { sed -n 's/.*"jobs": \([0-9]*\),.*/\1/p' "$1"; }
mkdir "$work/gone"
cd "$work/gone" || exit 1
begin "$satin" run -n 3 -w 1 --name parts --checkpoint "$work/parts.satin" --interval 60 --stats "$work/part1" -- \
  "$SATIN_BIN/../tests/e2e/naps" 60 11
ok "three nodes are up" wait_for $((10 * slow)) up parts 3
ok "these nodes have worked" wait_for $((10 * slow)) has_worked parts 1.5
try "$satin" suspend parts
ended
is "the first part is suspended" "$code" 75
cd "$work" || exit 1
rmdir "$work/gone"
touch "$NAPS_HASTE"
try "$satin" resume "$work/parts.satin" -n 2 -w 1 --stats "$work/part2"
is "the folder of the first run need not exist" "$words" \
  "satin: the run was started in '$work/gone', which is not here: it goes on in '$work'"
is "the second part ends" "$answer" 2048
sum=$(($(executed "$work/part1") + $(executed "$work/part2")))
ok "both together executed $sum jobs of 4095, at most 10 more" [ $sum -le 4105 ]
ok "the second part has not executed all jobs" [ "$(executed "$work/part2")" -lt 4072 ]

begin "$satin" run -n 2 --name free -- "${heavy[@]}"
ok "a run without checkpoint is up" wait_for $((10 * slow)) up free 2
# Without main's exit code, the file is no answer.
echo 42 >"$runs/free/answer"
try "$satin" suspend free
is "it is not suspended" "$code" 1
ok "… since nothing would be kept: the message says what to do" \
  grep -q 'save free --to URI.*gives it one, .satin cancel free. ends it' <<<"$words"
ok "… and it goes on" up free 2
kill -INT "$begun"
ended
is "Ctrl-C stops it, and then it has no answer" "$code:$answer" 75:
finish

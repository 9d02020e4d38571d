#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What Satin knows of runs that have ended: exit codes for `satin wait`, and lists of runs.
. "$(dirname "$0")/lib.sh"
ends=$SATIN_BIN/../tests/e2e/ends
choose_heavy
listed () { "$satin" status --all --json | grep -q "$1"; }

try "$satin" run --name done -- "$SATIN_BIN/fib" 20
is "a run" "$code:$answer" 0:6765
ok "… leaves no folder" [ ! -e "$runs/done" ]
try "$satin" wait done
is "wait after its end gives its exit code, and no answer again" "$code:$answer:$words" 0::
try "$satin" run --name minus -- "$ends" minus
try "$satin" wait minus
is "… also a code that main returned" "$code:$words" 255:
"$SATIN_BIN/fib" --checkpoint "$work/alone.satin" 20 >/dev/null
try "$satin" wait "$work/alone.satin"
is "… of a program alone, by its checkpoint" "$code:$words" 0:
begin "$satin" run --name ends --checkpoint "$work/c.satin" -- "${heavy[@]}"
ok "a run is up" wait_for $((20 * slow)) up ends 1
try "$satin" status ends
ok "status shows the program" grep -q "^  .*held " <<<"$answer"
ok "… and host, start and time" grep -Eq "^  host $(uname -n)  started [0-9 :-]*  elapsed [0-9.]* s$" <<<"$answer"
try "$satin" status ends --json
ok "… in JSON, too" grep -Eq '"program":"[^"]*held","arguments":\["[^"]*"\],"host":"[^"]*","started":"[^"]*Z","elapsed_s":[0-9]' <<<"$answer"
try "$satin" cancel ends
ended
try "$satin" wait "$work/c.satin"
is "wait gives 7 after it was cancelled" "$code" 7
try "$satin" save ends
is "other verbs say that it has ended" "$code:$words" "1:satin: run 'ends' has ended before (exit code 7)"
try "$satin" status ends
is "… status as well" "$code:$words" "1:satin: run 'ends' has ended (exit code 7)"
try "$satin" status --all
ok "status --all lists it" grep -q "^ends  ended  exit code 7  checkpoint $work/c.satin$" <<<"$answer"
is "… together with the others" "$(grep -c '  ended  exit code ' <<<"$answer")" 4
ok "… in JSON, too" listed '"ended":\[.*"name":"ends".*"exit_code":7}'
try "$satin" status --all ends
is "--all and a run" "$code" 2

# A new run replaces an ended one of its name. Ended runs are forgotten after seven days.
begin "$satin" run --name done -- "${heavy[@]}"
ok "a run of the same name" wait_for $((20 * slow)) up done 1
ok "… is listed once" eval '! listed "\"ended\":\[.*\"name\":\"done\""'
finished
touch -d '8 days ago' "$XDG_STATE_HOME/satin/ended/minus/end"
try "$satin" wait minus
is "after seven days the run is unknown" "$code:$words" "1:satin: there is no run 'minus' here (\`satin status\` lists them)"
ok "… and no longer listed" eval '! listed minus'
ok "… and its folder is removed" [ ! -e "$XDG_STATE_HOME/satin/ended/minus" ]

# Several `satin wait` processes wait while the launcher dies, before or after the end of the run: one of them shows the answer,
# and all return its exit code.
for when in before after; do
  begin "$satin" run -n 2 --name "once-$when" --checkpoint "$work/once-$when.satin" -- "${heavy[@]}"
  ok "$when the end: two nodes are up" wait_for $((20 * slow)) up "once-$when" 2
  launcher=$begun
  [ $when = before ] && kill -9 "$launcher"
  [ $when = after ] && kill -STOP "$launcher"
  waiters=()
  for i in 1 2 3 4 5; do
    "$satin" wait "once-$when" >"$work/$when.$i" 2>"$work/$when.$i.words" &
    waiters[i]=$!
  done
  ok "$when the end: five wait" wait_for $((20 * slow)) eval '[ "$(find "$runs/once-$when" -name "*.stays" | wc -l)" -ge 5 ]'
  let_go
  ok "$when the end: the run ends" wait_for $((20 * slow)) eval '[ -e "$runs/once-$when/end" ] || [ ! -e "$runs/once-$when" ]'
  kill -9 "$launcher" 2>/dev/null
  codes=''
  for i in 1 2 3 4 5; do wait "${waiters[$i]}"; codes+="$? "; done
  wait "$launcher" 2>/dev/null
  hold
  is "$when the end: all give the run's exit code" "$codes" "0 0 0 0 0 "
  is "$when the end: the answer is shown once" "$(cat "$work/begun.answer" "$work/$when".[1-5])" "$heavy_answer"
  is "$when the end: no messages" "$(cat "$work/$when".*.words)" ""
  try "$satin" wait "once-$when"
  is "$when the end: a later satin wait returns only the exit code" "$code:$answer:$words" 0::
done
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Large answers from nodes on other hosts: the launcher shows them; if it is dead, `satin wait` does. An answer that does not
# fit on this host's disk stays on the other host. Larger answers: make answers MB=500.
. "$(dirname "$0")/lib.sh"
export TMPDIR=$work/tmp
mb=${1:-70}
mkdir "$TMPDIR" "$work/far"
print=$SATIN_BIN/../tests/e2e/print
far_nodes () { grep -lsF "TMPDIR=$work/far" /proc/[0-9]*/environ | sed 's,/proc/,,; s,/environ,,'; }
# shellcheck disable=SC2046
trap 'kill -9 $(far_nodes) 2>/dev/null; leave' EXIT
no_far () { [ -z "$(ls "$work/far")" ]; }
# The limit of file sizes holds for this host only.
printf '[site there]\nhosts = a b\nworkers = 1\nsetup = ulimit -S -f unlimited\ncommand = %s sh -c\n' "$(bare "$work/far")" >"$work/sites"
sum () { cksum <"$1"; }
wanted=$("$print" "$mb" | cksum)

show () # COMMAND…: writes the command's answer and messages to files
{
  timeout $((120 * slow)) "$@" >"$work/large" 2>"$work/words" </dev/null
  code=$?
  words=$(cat "$work/words")
}
# Begins a run of far nodes that waits until the file `gate` exists. The master is one of them.
far_run () # NAME MB
{
  rm -f "$work/gate"
  "$satin" run --sites "$work/sites" --name "$1" -- "$print" "$2" "$work/gate" >"$work/large" 2>"$work/words" </dev/null &
  begun=$!
  ok "$1: two far nodes are up" wait_for $((30 * slow)) up "$1" 2
}

show "$satin" run --sites "$work/sites" -- "$print" "$mb"
is "launcher alive: the answer is whole" "$code:$(sum "$work/large"):$words" "0:$wanted:"
ok "… and nothing is left at the other site" wait_for 10 no_far

far_run orphan "$mb"
kill -9 "$begun"
wait "$begun" 2>/dev/null
: >"$work/gate"
show "$satin" wait orphan
is "launcher dead: satin wait shows it whole" "$code:$(sum "$work/large"):$words" "0:$wanted:"
ok "… and nothing is left at the other site" wait_for 10 no_far

# This host may not write that much. An answer that does not fit stays on the other host, and is fetched when there is room.
trap '' XFSZ
far_run full "$mb"
kill -9 "$begun"
wait "$begun" 2>/dev/null
: >"$work/gate"
(ulimit -S -f 20000; show "$satin" wait full; echo "$code" >"$work/code")
is "no room for satin wait: the exit code" "$(cat "$work/code")" 1
ok "… and says why" grep -q '^satin: the answer stays on another host.*File too large' "$work/words"
ok "… and leaves nothing half written" eval '! ls -A "$runs/full" | grep -Eq "^(answer|\.answer\..*)\$"'
show "$satin" wait full
is "… the next one shows it whole" "$code:$(sum "$work/large"):$words" "0:$wanted:"
ok "… and nothing is left at the other site" wait_for 10 no_far

(ulimit -S -f 20000; show "$satin" run --sites "$work/sites" --name tight -- "$print" "$mb"; echo "$code" >"$work/code")
is "no room for the launcher: the exit code" "$(cat "$work/code")" 1
ok "… and says why" grep -q "^satin: 'answer' stays on host '.' of site 'there': .*File too large" "$work/words"
ok "… and what to do" grep -q '^satin: the run is done, but its answer has not come here: `satin wait tight` ' "$work/words"
show "$satin" wait tight
is "… satin wait shows it whole" "$code:$(sum "$work/large"):$words" "0:$wanted:"
ok "… and nothing is left at the other site" wait_for 10 no_far
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `satin add`: nodes that come in mid-run, from another terminal, and carry the run on when the first ones are gone.
. "$(dirname "$0")/lib.sh"
mkdir "$work/far"
away="env -i PATH=$PATH HOME=$work/far TMPDIR=$work/far"
kill_far ()
{
  local pids
  pids=$(grep -lsF "TMPDIR=$work/far" /proc/[0-9]*/environ | sed 's,/proc/,,; s,/environ,,')
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill -9 $pids 2>/dev/null
}
trap 'kill_far; leave' EXIT
no_far () { [ -z "$(ls "$work/far")" ]; }

choose_heavy 2
begin "$satin" run -n 1 -w 1 --name grows -- "${heavy[@]}"
ok "one node is up" wait_for $((10 * slow)) up grows 1
first=$(master_of grows)
try "$satin" add grows -n 2 -w 1
is "two are added" "$code:$words" "0:"
ok "three nodes are up" up grows 3
sleep 0.5
kill -9 "$first"
ended
is "those that were added go on when the first is killed" "$code:$answer" "0:$heavy_answer"
ok "nobody is left" wait_for 10 no_nodes

try "$satin" add grows
is "a run that has gone" "$code" 1
try "$satin" add
is "no run said" "$code" 2
try "$satin" add grows -n 0
is "no nodes" "$code" 2

choose_heavy
cat >"$work/sites" <<EOF
[site there]
hosts = a b
workers = 1
command = $away sh -c
EOF
begin "$satin" run -n 1 -w 1 --name inside -- "${heavy[@]}"
ok "one node is up, inside" wait_for $((10 * slow)) up inside 1
try "$satin" add inside --sites "$work/sites"
is "a run that listens to nobody" "$code:$words" \
  "1:satin: run 'inside' does not listen to other hosts: start it with --listen or --sites"
ended
is "inside: the answer" "$code:$answer" "0:$heavy_answer"

begin "$satin" run -n 1 -w 1 --name opens --listen 127.0.0.1 -- "${heavy[@]}"
ok "one node is up, listening" wait_for $((10 * slow)) up opens 1
"$satin" add opens --sites "$work/sites" 2>"$work/added.words" &
added=$!
ok "two of another site come" wait_for $((20 * slow)) up opens 3
ended
is "opens: the answer" "$code:$answer" "0:$heavy_answer"
wait "$added"
is "who added them ends with them" "$?:$(cat "$work/added.words")" "0:"
ok "nothing is left there" wait_for 10 no_far
no_far || { ls -lR "$work/far"; pgrep -af "^$SATIN_BIN/fib"; } | sed 's/^/# /'
finish

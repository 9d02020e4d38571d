#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Three ways to suspend, and on again with other numbers of nodes.
. "$(dirname "$0")/lib.sh"
choose_heavy 2
file=$work/stop.satin

begin "$satin" run -n 3 --name stop --checkpoint "$file" --interval 60 -- "${heavy[@]}"
ok "three nodes are up" wait_for $((10 * slow)) up stop 3
sleep 1
try "$satin" suspend stop
is "satin suspend does it" "$code" 0
ended
is "the suspended run exits with 75" "$code" 75
is "it has no answer" "$answer" ""
ok "it says how to go on" grep -q "satin resume" <<<"$words"
ok "what was finished is saved although no interval had passed" has_rows "$file"
ok "the file is sound" integrity "$file"
ok "the folder of the run is removed" [ ! -e "$runs/stop" ]

begin "$satin" resume "$file" -n 4 --interval 60
ok "four nodes go on" wait_for $((10 * slow)) up stop 4
kill -TERM "$begun"
ended
is "SIGTERM suspends" "$code" 75

# In a session of its own, so that Ctrl-C's signal reaches the launcher's group as from a terminal.
begin setsid --wait "$satin" resume "$file" -n 2 --name again
ok "two nodes go on" wait_for $((10 * slow)) up again 2
launcher=$(sed -n 's/^launcher_pid=//p' "$runs/again/run")
kill -INT -- "-$launcher" 2>/dev/null || kill -INT "$launcher"
ended
is "Ctrl-C suspends" "$code" 75
is "no answer came from that" "$answer" ""

try "$satin" resume "$file" -n 1
is "one node finishes" "$answer" "$heavy_answer"
is "with 0" "$code" 0

begin "$satin" run -n 2 --name free -- "${heavy[@]}"
ok "a run without checkpoint is up" wait_for $((10 * slow)) up free 2
try "$satin" suspend free
ended
is "it can be stopped too" "$code" 75
finish

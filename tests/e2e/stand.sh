#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A master is stopped until the other nodes take it for dead, and then continues: it is not master any more, and the output of
# its main is no answer.
. "$(dirname "$0")/lib.sh"
choose_heavy
another_master () { local now; now=$(master_of "$1"); [ -n "$now" ] && [ "$now" != "$2" ]; }

begin "$satin" run -n 3 -w 1 --name stand --heartbeat 1 --silence 6 -- "${heavy[@]}"
ok "three nodes are up" wait_for $((10 * slow)) up stand 3
first=$(master_of stand)
kill -STOP "$first"
ok "another node becomes master" wait_for $((15 * slow)) another_master stand "$first"
kill -CONT "$first"
ok "the first joins again" wait_for $((20 * slow)) up stand 3
ok "… and is not master" another_master stand "$first"
finished
is "the answer, once" "$code:$answer" "0:$heavy_answer"

# A node for which no process waits is stopped at the end of the run, and continues when everything is gone.
begin "$satin" run -n 2 -w 1 --name over --heartbeat 1 --silence 3 -- "${heavy[@]}"
ok "two nodes are up" wait_for $((10 * slow)) up over 2
others=$(our_nodes)
"$satin" add over
added=$(our_nodes | grep -vxF "$others")
ok "a node is added" wait_for $((10 * slow)) up over 3
kill -STOP "$added"
finished
is "the answer without it" "$code:$answer" "0:$heavy_answer"
kill -CONT "$added"
ok "the stopped node does not found the run again" wait_for $((12 * slow)) gone "$added"
finish

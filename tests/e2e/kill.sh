#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# kill -9 of single nodes, without a checkpoint: the right answer is printed once.
. "$(dirname "$0")/lib.sh"
choose_heavy

begin "$satin" run -n 4 --name one -- "${heavy[@]}"
ok "four nodes are up" wait_for $((10 * slow)) up one 4
victim=$(other_of one)
kill -9 "$victim"
finished
is "without one node the answer is right" "$answer" "$heavy_answer"
is "and the run is done" "$code" 0
ok "the death is reported in one line" [ "$(grep -c "node $victim died (signal 9)" <<<"$words")" = 1 ]

begin "$satin" run -n 4 --name head -- "${heavy[@]}"
ok "four nodes are up again" wait_for $((10 * slow)) up head 4
victim=$(master_of head)
kill -9 "$victim"
finished
is "without the master the answer is right" "$answer" "$heavy_answer"
is "and that run is done" "$code" 0

# The eldest nodes are killed first, until one is left.
begin "$satin" run -n 3 --tcp --name last -- "${heavy[@]}"
ok "three nodes are up" wait_for $((10 * slow)) up last 3
first=$(master_of last)
kill -9 "$first"
new_master () { local now; now=$(master_of last); [ -n "$now" ] && [ "$now" != "$first" ]; }
ok "another node becomes master" wait_for $((20 * slow)) new_master
kill -9 "$(master_of last)"
finished
is "the last node gives the answer" "$answer" "$heavy_answer"
is "and its run is done" "$code" 0

# A process that a job has forked outlives its node and is not taken for the node.
BOMB_GO=$work/go begin "$satin" run -n 3 -w 1 --name forked -- "$SATIN_BIN/../tests/e2e/bomb" stay 255 20 13
find_parent () # sets victim to the node that has a child
{
  local node
  for node in $(nodes_of forked | cut -d' ' -f1); do
    [ -n "$(children_of "$node")" ] && victim=$node && return
  done
  return 1
}
is_no_member () { [ -n "$(master_of forked)" ] && ! nodes_of forked | grep -q "^$victim .* up$"; }
ok "a job has forked" wait_for $((20 * slow)) find_parent
kill -9 "$victim"
ok "the other nodes see at once that the node is gone" wait_for $((4 * slow)) is_no_member
finished
is "the answer of that run is right" "$code:$answer" 0:8192
finish

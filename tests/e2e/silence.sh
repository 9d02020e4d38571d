#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nodes that stand still, connections that are half open, and connections that close: who is taken for dead, when, and what
# comes of it.
. "$(dirname "$0")/lib.sh"
naps=("$SATIN_BIN/sleep" 20 --depth 10) # 20 s of work, and no load

heartbeat=0.2 silence=2
[ $slow -gt 1 ] && heartbeat=1 silence=10
patience=(--heartbeat $heartbeat --silence $silence)

now_ms () { echo $(($(date +%s%N) / 1000000)); }
log_of () { echo "$runs/$1/node-$2.log"; }                    # RUN PID
logged () { grep -qs -- "$3" "$(log_of "$1" "$2")"; }         # RUN PID WORDS
ids_of () { sed -n 's/.*joined as node //p' "$(log_of "$1" "$2")"; }
rejoined () { [ "$(ids_of "$1" "$2" | sort -u | grep -c .)" -ge 2 ]; }
figure () { tr -d ' \n' <"$1" | sed -n "s/.*\"$2\":\([0-9.]*\).*/\1/p"; }
positive () { [ -n "$1" ] && [ -n "$(echo "$1" | tr -d 0.)" ]; }
# passed FROM LEAST: so many seconds, at least, have passed since then.
passed ()
{
  local ms=$(($(now_ms) - $1))
  echo "# $ms ms"
  awk -v ms=$ms -v least="$2" 'BEGIN { exit !(ms >= least * 1000) }'
}

# A node stands still for less than the limit: nothing happens. Then for longer.
begin "$satin" run -n 2 -w 1 "${patience[@]}" --name still --stats "$work/still.json" -- "${naps[@]}"
ok "two nodes are up" wait_for $((10 * slow)) up still 2
other=$(other_of still) master=$(master_of still)
ok "the other one has worked" wait_for $((10 * slow)) has_worked still 0.3 "$other"
kill -STOP "$other"
sleep $(awk "BEGIN { print $silence / 2 }")
kill -CONT "$other"
sleep $(awk "BEGIN { print 2 * $heartbeat }")
ok "who stands still for less than the limit is let alone" [ -z "$(grep -h 'is dead' "$runs"/still/node-*.log)" ]
start=$(now_ms)
kill -STOP "$other"
ok "who stands still for longer counts as dead" wait_for $((10 * slow)) logged still "$master" "is dead: silent for too long"
ok "no sooner" passed "$start" $(awk "BEGIN { print $silence - $heartbeat }")
kill -CONT "$other"
ok "it joins again under another name" wait_for $((10 * slow)) rejoined still "$other"
ended
is "the answer" "$code:$answer" "0:leaves 1024"
ok "what it had done is used" positive "$(figure "$work/still.json" salvaged_s)"

# The master stands still: another one takes over, and there is one answer.
begin "$satin" run -n 3 -w 1 "${patience[@]}" --name head -- "${naps[@]}"
ok "three nodes are up" wait_for $((10 * slow)) up head 3
first=$(master_of head)
others=$(nodes_of head | awk '!/"master"/ { print $1 }')
has_heir () { grep -qs 'is master now' $(for one in $others; do log_of head "$one"; done); }
kill -STOP "$first"
ok "another becomes master" wait_for $((10 * slow)) has_heir
kill -CONT "$first"
ok "the first joins again" wait_for $((10 * slow)) rejoined head "$first"
ended
is "the answer, once" "$code:$answer" "0:leaves 1024"

# A node stands still until the end, and longer.
begin "$satin" run -n 2 -w 1 "${patience[@]}" --name stuck -- "${naps[@]}"
ok "two nodes are up once more" wait_for $((10 * slow)) up stuck 2
other=$(other_of stuck)
kill -STOP "$other"
ended
is "one that never goes on holds nobody up" "$code:$answer" "0:leaves 1024"
ok "and does not stay behind" wait_for 5 gone "$other"

# Connections that close.
begin "$satin" run -n 3 -w 1 --tcp --name closed -- "${naps[@]}"
ok "three nodes talk over TCP" wait_for $((10 * slow)) up closed 3
other=$(other_of closed) master=$(master_of closed)
kill -9 "$other"
ok "a node that dies is known to be dead, and not by its silence" \
  wait_for 20 logged closed "$master" "is dead: its address refuses"
ended
is "and the answer is right" "$code:$answer" "0:leaves 1024"
finish

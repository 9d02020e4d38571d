#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nodes that are stopped, and connections that close: which node is taken for dead, when, and what follows.
. "$(dirname "$0")/lib.sh"
choose_heavy

heartbeat=0.3 silence=4
[ $slow -gt 1 ] && heartbeat=1 silence=10
patience=(--heartbeat $heartbeat --silence $silence)

now_ms () { echo $(($(date +%s%N) / 1000000)); }
log_of () { echo "$runs/$1/node-$2.log"; }                    # RUN PID
logged () { grep -qs -- "$3" "$(log_of "$1" "$2")"; }         # RUN PID WORDS
ids_of () { sed -n 's/.*joined as node //p' "$(log_of "$1" "$2")"; }
rejoined () { [ "$(ids_of "$1" "$2" | sort -u | grep -c .)" -ge 2 ]; }
figure () { tr -d ' \n' <"$1" | sed -n "s/.*\"$2\":\([0-9.]*\).*/\1/p"; }
positive () { [ -n "$1" ] && [ -n "$(echo "$1" | tr -d 0.)" ]; }
# passed FROM LEAST: at least LEAST seconds have passed since FROM.
passed ()
{
  local ms=$(($(now_ms) - $1))
  echo "# $ms ms"
  awk -v ms=$ms -v least="$2" 'BEGIN { exit !(ms >= least * 1000) }'
}

# A node is stopped for more than half of the limit, so that it is suspected, but for less than the limit: nothing happens. A
# trial that took too long on a busy machine is repeated.
stand_shortly () # PID
{
  local start
  start=$(now_ms)
  kill -STOP "$1"
  sleep $((silence + 1))
  kill -CONT "$1"
  [ $(($(now_ms) - start)) -lt $((1500 * silence)) ]
}
for ((i = 0; i < 20; i++)); do
  begin "$satin" run -n 2 -w 1 --heartbeat $heartbeat --silence $((2 * silence)) --name short -- "${heavy[@]}"
  wait_for $((10 * slow)) up short 2
  if stand_shortly "$(other_of short)"; then break; fi
  finished
done
ok "a node is stopped for less than the limit" [ $i -lt 20 ]
sleep $(awk "BEGIN { print 2 * $heartbeat }")
ok "a node that is stopped for less than the limit is not evicted" [ -z "$(grep -h 'is dead' "$runs"/short/node-*.log)" ]
finished

# A node is stopped for longer than the limit.
begin "$satin" run -n 2 -w 1 "${patience[@]}" --name still --stats "$work/still.json" -- "${heavy[@]}"
ok "two nodes are up" wait_for $((10 * slow)) up still 2
other=$(other_of still) master=$(master_of still)
ok "the other one has worked" wait_for $((10 * slow)) has_worked still 0.3 "$other"
start=$(now_ms)
kill -STOP "$other"
ok "a node that is stopped for longer counts as dead" wait_for $((10 * slow)) logged still "$master" "is dead: silent for too long"
ok "not much before the limit" passed "$start" $((silence * 3 / 4))
kill -CONT "$other"
ok "it joins again with another id" wait_for $((10 * slow)) rejoined still "$other"
finished
is "the answer" "$code:$answer" "0:$heavy_answer"
ok "its results are used" positive "$(figure "$work/still.json" salvaged_s)"

# The master is stopped: another node takes over, and there is one answer.
begin "$satin" run -n 3 -w 1 "${patience[@]}" --name head -- "${heavy[@]}"
ok "three nodes are up" wait_for $((10 * slow)) up head 3
first=$(master_of head)
others=$(nodes_of head | awk '!/"master"/ { print $1 }')
has_heir () { grep -qs 'is master now' $(for one in $others; do log_of head "$one"; done); }
kill -STOP "$first"
ok "another node becomes master" wait_for $((10 * slow)) has_heir
kill -CONT "$first"
ok "the first joins again" wait_for $((10 * slow)) rejoined head "$first"
finished
is "the answer, once" "$code:$answer" "0:$heavy_answer"

# A node is stopped until the end of the run.
begin "$satin" run -n 2 -w 1 "${patience[@]}" --name stuck -- "${heavy[@]}"
ok "two nodes are up once more" wait_for $((10 * slow)) up stuck 2
other=$(other_of stuck)
kill -STOP "$other"
finished
is "a node that stays stopped does not delay the run" "$code:$answer" "0:$heavy_answer"
ok "and its process does not remain" wait_for 5 gone "$other"

# Connections that close.
begin "$satin" run -n 3 -w 1 --tcp --name closed -- "${heavy[@]}"
ok "three nodes communicate over TCP" wait_for $((10 * slow)) up closed 3
other=$(other_of closed) master=$(master_of closed)
kill -9 "$other"
ok "a dead node on this host is detected by its missing process, not by silence" \
  wait_for 20 logged closed "$master" "is dead: its own host shows that it is gone"
finished
is "and the answer is right" "$code:$answer" "0:$heavy_answer"
finish

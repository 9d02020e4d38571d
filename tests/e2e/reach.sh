#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sites that cannot connect to each other communicate through a node that both can reach. If only one of two sites can connect
# to the other, it does.
. "$(dirname "$0")/netns.sh"
. "$(dirname "$0")/lib.sh"

site () # NUMBER [NODES]: the lines of host NUMBER in a file of sites
{
  printf '[site s%s]\nhosts = h%s:%s\nworkers = 1\nlisten = 10.9.%s.1\ncommand = %s\n' "$1" "$1" "${2-1}" "$1" "$(away "$1")"
}
no_far () { [ -z "$(for host in 1 2 3; do nodes_on $host "${heavy[0]}"; done)" ]; }
stats () { cat "$runs/$1"/node-*.stats 2>/dev/null | tr -d ' '; }
# At least NUMBER nodes of RUN have work of their own at risk.
busy () { [ "$("$satin" status "$1" --json | tr '{' '\n' | grep '"pid"' | grep -vc '"at_risk_s":0\.000000')" -ge "$2" ]; }
says () { cat "$runs/$1"/node-*.log 2>/dev/null | grep -q "$2"; }
ways () { cat "$runs/$1"/node-*.log | grep -c 'is reached through'; }
# The process id of the node that relays.
relay_of ()
{
  local id
  id=$(cat "$runs/$1"/node-*.log | sed -n 's/.*is reached through //p' | tail -n 1)
  stats "$1" | grep "\"id\":\"$id\"" | sed 's/.*"pid":\([0-9]*\).*/\1/'
}

ok "three hosts" wan_begin 3 || finish
# The commands of this script run on host 1, which all hosts can reach.
printf '#!/bin/sh\nexec nsenter --net=/run/netns/s1 -- %s "$@"\n' "$satin" >"$work/satin"
chmod +x "$work/satin"
satin=$work/satin

# No site says where to listen, and the first host's name resolves only to its loopback address.
choose_heavy
{ site 2; site 3; } | sed '/^listen/d' >"$work/silent"
begin "$satin" run --sites "$work/silent" --name found -- "${heavy[@]}"
ok "found: two nodes find each other" wait_for $((20 * slow)) up found 2
finished
is "found: the answer" "$code:$answer" "0:$heavy_answer"

# Two sites can connect only to a third one, which can connect to none.
wan "delay * * 5" "wall 1 2" "wall 1 3" "wall 2 3" "wall 3 2"
{ site 1; site 2; site 3; } >"$work/star"
begin "$satin" run --sites "$work/star" --name star -- "${heavy[@]}"
ok "star: three nodes are up" wait_for $((20 * slow)) up star 3
ok "star: all of them work" wait_for $((20 * slow)) busy star 3
ok "star: two of them communicate through the third" wait_for $((20 * slow)) says star "is reached through 1.1"
ok "star: no node is taken for dead" eval '! says star "is dead"'
finished
is "star: the answer" "$code:$answer" "0:$heavy_answer"
is "star: no messages" "$words" ""

# The relaying node dies; another node can relay.
{ site 1 2; site 2; site 3; } >"$work/star"
begin "$satin" run --sites "$work/star" --name spare -- "${heavy[@]}"
ok "spare: four nodes are up" wait_for $((20 * slow)) up spare 4
ok "spare: two nodes communicate through another" wait_for $((20 * slow)) says spare "is reached through"
relay=$(relay_of spare) before=$(ways spare)
kill -9 "$relay"
three_left () { [ "$(nodes_of spare | grep -vc "^$relay ")" -eq 3 ] && [ "$(nodes_of spare | wc -l)" -eq 3 ]; }
ok "spare: the relay is gone, three nodes are left" wait_for $((60 * slow)) three_left
ok "spare: the two communicate again" wait_for $((20 * slow)) eval '[ "$(ways spare)" -gt "$before" ]'
finished
is "spare: the answer" "$code:$answer" "0:$heavy_answer"

# The relaying node dies and no other can relay: both sides go on, and one answer is shown.
if at 2 iptables -A INPUT -p tcp --syn -s 10.9.3.1 -j REJECT --reject-with tcp-reset 2>/dev/null \
  && at 3 iptables -A INPUT -p tcp --syn -s 10.9.2.1 -j REJECT --reject-with tcp-reset 2>/dev/null; then
  wan "open * *"
  { site 1; site 2; site 3; } >"$work/star"
  begin "$satin" run --sites "$work/star" --name alone -- "${heavy[@]}"
  ok "refused: three nodes are up" wait_for $((20 * slow)) up alone 3
  ok "refused: two nodes communicate through the third" wait_for $((20 * slow)) says alone "is reached through 1.1"
  ok "refused: no node is taken for dead" eval '! says alone "is dead"'
  kill -9 "$(relay_of alone)"
  ok "both sides go on" wait_for $((20 * slow)) eval '[ "$(cat "$runs"/alone/node-*.log | grep -c "is master now")" -eq 2 ]'
  finished
  is "both sides go on: the answer, once" "$code:$answer" "0:$heavy_answer"
  at 2 iptables -F INPUT
  at 3 iptables -F INPUT
else
  skip "both sides go on" "iptables does not work here"
fi

# Host 3 can connect to host 2, but not host 2 to host 3.
wan "open * *" "wall 2 3"
{ site 2; site 3; } >"$work/one-way"
begin "$satin" run --sites "$work/one-way" --name one-way -- "${heavy[@]}"
ok "one way: two nodes are up" wait_for $((20 * slow)) up one-way 2
ok "one way: both work" wait_for $((20 * slow)) busy one-way 2
ok "one way: no node is taken for dead" eval '! says one-way "is dead"'
finished
is "one way: the answer" "$code:$answer" "0:$heavy_answer"

# In addition the master is stopped until it is evicted. The address that it dials refuses it, so it must join again over the
# link that the other node opens.
logged () { [ "$(cat "$runs"/found-again/node-*.log | grep -c "$1")" -ge "$2" ]; }
if at 3 iptables -A INPUT -p tcp --syn -s 10.9.2.1 -j REJECT --reject-with tcp-reset 2>/dev/null; then
  wan "open * *"
  begin "$satin" run --sites "$work/one-way" --name found-again --heartbeat 1 --silence 4 -- "${heavy[@]}"
  ok "found again: two nodes are up" wait_for $((20 * slow)) up found-again 2
  stopped=$(master_of found-again)
  kill -STOP "$stopped"
  ok "found again: the other node goes on" wait_for $((20 * slow)) logged "is master now" 1
  kill -CONT "$stopped"
  ok "found again: it is one run again" wait_for $((30 * slow)) logged "joined as node" 3
  ok "found again: both work" wait_for $((20 * slow)) busy found-again 2
  is "found again: the run is not founded again" "$(cat "$runs"/found-again/node-*.log | grep -c "was left out")" 1
  finished
  is "found again: the answer" "$code:$answer" "0:$heavy_answer"
  at 3 iptables -F INPUT
else
  skip "an evicted node joins again over the other node's link" "iptables does not work here"
fi
ok "no process is left" wait_for 10 no_far
finish

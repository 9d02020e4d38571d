#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts, played by network namespaces: first their connections become half-open, then all traffic between them is dropped.
. "$(dirname "$0")/lib.sh"
away=$(bare "$work/far")
near=satin-near-$$ far=satin-far-$$

take_down ()
{
  local one pids
  for one in "$near" "$far"; do
    pids=$(ip netns pids "$one" 2>/dev/null)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill -9 $pids 2>/dev/null
    ip netns del "$one" 2>/dev/null
  done
}
trap 'take_down; leave' EXIT

# Makes two namespaces with a cable between them.
set_up ()
{
  mkdir "$work/far"
  ip netns add "$near" && ip netns add "$far" \
    && ip -n "$near" link add way type veth peer name way netns "$far" \
    && ip -n "$near" addr add 10.213.7.1/24 dev way && ip -n "$far" addr add 10.213.7.2/24 dev way \
    && ip -n "$near" link set way up && ip -n "$far" link set way up \
    && ip -n "$near" link set lo up && ip -n "$far" link set lo up \
    && ip netns exec "$far" iptables -A INPUT -p tcp --dport 9 -j DROP && ip netns exec "$far" iptables -F \
    && ip netns exec "$near" ss -tnH
}
if ! reason=$(set_up 2>&1); then
  skip "half-open connections" "no network namespaces, iptables or ss here: ${reason//$'\n'/; }"
  finish
fi

choose_heavy
heartbeat=0.3 silence=3
[ $slow -gt 1 ] && heartbeat=1 silence=12
cat >"$work/two" <<END
[site near]
nodes = 1
workers = 1
listen = 10.213.7.1
[site far]
hosts = 10.213.7.2
listen = 10.213.7.2
workers = 1
command = ip netns exec $far $away sh -c
END
now_ms () { echo $(($(date +%s%N) / 1000000)); }
logged () { grep -hqs -- "$2" "$runs/$1"/node-*.log; } # RUN WORDS
count_joined () { grep -hs 'joined as node' "$runs/$1"/node-*.log | sort -u | grep -c .; }
joined () { [ "$(count_joined "$1")" -ge "$2" ]; }
connections () { ip netns exec "$near" ss -tnH state established | awk '{ print $3, $4 }'; }

begin ip netns exec "$near" "$satin" run --sites "$work/two" --heartbeat $heartbeat --silence $silence --name way -- "${heavy[@]}"
ok "a node on each side" wait_for $((20 * slow)) up way 2

# Drops all packets of the existing connections. New connections can be made.
connections >"$work/connections"
ok "they are connected" test -s "$work/connections"
while read -r here there; do
  ip netns exec "$far" iptables -A INPUT -p tcp --sport "${here##*:}" --dport "${there##*:}" -j DROP
  ip netns exec "$far" iptables -A OUTPUT -p tcp --sport "${there##*:}" --dport "${here##*:}" -j DROP
done <"$work/connections"
another () { connections | grep -qvxFf "$work/connections"; }
ok "a half-open connection is replaced" wait_for $((5 * slow)) another
sleep $((silence + 1))
ok "and no node counts as dead" [ -z "$(grep -h 'is dead' "$runs"/way/node-*.log)" ]

# Drops all packets.
start=$(now_ms)
ip netns exec "$far" iptables -F
ip netns exec "$far" iptables -A INPUT -j DROP
ip netns exec "$far" iptables -A OUTPUT -j DROP
ok "a node that is cut off counts as dead" wait_for $((20 * slow)) logged way "is dead: silent for too long"
ms=$(($(now_ms) - start))
echo "# $ms ms"
ok "not before the time of --silence" [ $ms -ge $((silence * 1000 - 1000)) ]
before=$(count_joined way)
ip netns exec "$far" iptables -F
ok "the two sides meet again" wait_for $((20 * slow)) joined way $((before + 1))
finished
is "the answer" "$code:$answer" "0:$heavy_answer"
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `satin add`: nodes join a run in progress, from another terminal, and continue it when the first nodes are gone.
. "$(dirname "$0")/lib.sh"
mkdir "$work/far"
away=$(bare "$work/far")
kill_far ()
{
  local pids
  pids=$(grep -lsF "TMPDIR=$work/far" /proc/[0-9]*/environ | sed 's,/proc/,,; s,/environ,,')
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill -9 $pids 2>/dev/null
}
trap 'kill_far; leave' EXIT
no_far () { [ -z "$(ls "$work/far")" ]; }

choose_heavy
begin "$satin" run -n 1 -w 1 --name grows -- "${heavy[@]}"
ok "one node is up" wait_for $((10 * slow)) up grows 1
first=$(master_of grows)
try "$satin" add grows -n 2 -w 1
is "two are added" "$code:$words" "0:"
is "both are named" "$(sort <<<"$answer")" \
  "$("$satin" status grows | awk -v first="$first" '$2 != first && / up / { print "node " $1 " has joined run '"'grows'"'" }' | sort)"
ok "three nodes are up" up grows 3
for added in $(nodes_of grows | awk -v first="$first" '$1 != first { print $1 }'); do
  ok "an added node works" wait_for $((10 * slow)) has_worked grows 0.1 "$added"
done
kill -9 "$first"
finished
is "the added nodes go on when the first is killed" "$code:$answer" "0:$heavy_answer"
is "… and the launcher reports it" "$(head -n 1 <<<"$words")" "satin: node $first died (signal 9); 2 go on"
ok "no process is left" wait_for 10 no_nodes

# A node is started while the only member is stopped; then that member is killed. The new node is the only one left.
begin "$satin" run -n 1 -w 1 --name bereft --checkpoint "$work/b.db" --interval 0.5 -- "${heavy[@]}"
ok "one node is up, bereft" wait_for $((10 * slow)) up bereft 1
first=$(master_of bereft)
kill -STOP "$first"
"$satin" add bereft -w 1 2>"$work/added.words" &
added=$!
two_logs () { [ "$(find "$runs/bereft" -name 'node-*.log' | wc -l)" -ge 2 ]; }
ok "a second node starts" wait_for $((10 * slow)) two_logs
kill -9 "$first"
finished
is "a node that had not joined when all others died founds the run again" "$code:$answer" "0:$heavy_answer"
wait "$added"
is "satin add knows that its node is up" "$?:$(cat "$work/added.words")" "0:"
ok "no process is left, bereft" wait_for 10 no_nodes

try "$satin" add grows
is "a run that has ended: exit code" "$code" 1
try "$satin" add
is "no run given: exit code" "$code" 2
try "$satin" add grows -n 0
is "0 nodes: exit code" "$code" 2

cat >"$work/sites" <<EOF
[site there]
hosts = a b
workers = 1
command = $away sh -c
EOF
begin "$satin" run -n 1 -w 1 --name inside -- "${heavy[@]}"
ok "one node is up, inside" wait_for $((10 * slow)) up inside 1
try "$satin" add inside --sites "$work/sites"
is "a run that does not listen to other hosts" "$code:$words" \
  "1:satin: run 'inside' does not listen to other hosts: start it with --listen or --sites"
finished
is "inside: the answer" "$code:$answer" "0:$heavy_answer"

begin "$satin" run -n 1 -w 1 --name opens --listen 127.0.0.1 -- "${heavy[@]}"
ok "one node is up, listening" wait_for $((10 * slow)) up opens 1
"$satin" add opens --sites "$work/sites" 2>"$work/added.words" &
added=$!
ok "two nodes of another site join" wait_for $((20 * slow)) up opens 3
finished
is "opens: the answer" "$code:$answer" "0:$heavy_answer"
wait "$added"
is "satin add ends with its nodes" "$?:$(cat "$work/added.words")" "0:"
ok "nothing is left at the other site" wait_for 10 no_far
no_far || { ls -lR "$work/far"; said_by /held; } | sed 's/^/# /'

# The program is replaced by another one, and then a node is added. The node tries to join for half a minute; its result is
# checked at the end of this script.
cp "$SATIN_BIN/sleep" "$work/replaced"
"$satin" run -n 1 -w 1 --name strange -- "$work/replaced" 1000 --depth 9 2>/dev/null &
strange=$!
ok "one node is up, strange" wait_for $((10 * slow)) up strange 1
rm "$work/replaced"
cp "$SATIN_BIN/fib" "$work/replaced"
"$satin" add strange 2>"$work/stranger.words" &
stranger=$!

# Sites leave and join again.
cat >"$work/two" <<EOF
[site here]
nodes = 1
workers = 1
[site there]
hosts = a b
workers = 1
command = $away sh -c
EOF
sites_of () # RUN: how many nodes of each site are up
{
  "$satin" status "$1" 2>/dev/null | awk '$4 == "up" { print $3 }' | sort | uniq -c | awk '{ printf "%s%s:%s", sep, $2, $1; sep = " " }'
}
has_sites () { [ "$(sites_of "$1")" = "$2" ]; }
# A pipe can be read once.
begin "$satin" run --sites <(cat "$work/two") --name sites -- "${heavy[@]}"
ok "both sites are up" wait_for $((20 * slow)) has_sites sites "here:1 there:2"
try "$satin" add sites --site elsewhere
is "no such site" "$code:$words" "1:satin: run 'sites' has no site 'elsewhere', only here, there"
try "$satin" leave sites --site elsewhere
is "leave: no node of such a site" "$code:$words" \
  "1:satin: run 'sites' has no node of site 'elsewhere'; \`satin status sites\` lists them"
try "$satin" leave sites --site there
is "a site leaves" "$code" 0
is "the other site goes on" "$(sites_of sites)" "here:1"
ok "nothing is left at the other site" wait_for 10 no_far
"$satin" add sites --site there -n 3 >"$work/added.answer" 2>"$work/added.words" &
added=$!
ok "three nodes of that site join" wait_for $((20 * slow)) has_sites sites "here:1 there:3"
try "$satin" add sites --site here
is "a node of site 'here' is added, too" "$code:$words" "0:"
ok "… and is named" grep -qE "^node [0-9.]+ has joined run 'sites' at site 'here'$" <<<"$answer"
ok "it belongs to its site" has_sites sites "here:2 there:3"
finished
is "sites: the answer" "$code:$answer" "0:$heavy_answer"
wait "$added"
is "satin add ends with its nodes" "$?:$(cat "$work/added.words")" "0:"
is "… and has named its nodes" "$(sed 's/node [0-9]*\.[0-9]* /node N /' "$work/added.answer" | sort | uniq -c | tr -s ' ')" \
  " 3 node N has joined run 'sites' at site 'there'"

# The answer is the same with each policy of stealing.
for way in rs mw; do
  try_freed "$satin" run --sites "$work/two" --steal $way -- "${heavy[@]}"
  is "two sites, --steal $way" "$code:$answer" "0:$heavy_answer"
done
try "$satin" run --steal bees -- "${heavy[@]}"
is "an unknown policy of stealing: exit code" "$code" 2

# A node process that is started by hand.
begin "$satin" run -n 1 -w 1 --name open -- "${heavy[@]}"
ok "one node is up, open" wait_for $((10 * slow)) up open 1
env SATIN_RUN_FOLDER="$runs/open" "${heavy[@]}" >/dev/null 2>&1 &
ok "a node that is started by hand joins an open run" wait_for $((10 * slow)) up open 2
finished
is "open: the answer" "$code:$answer" "0:$heavy_answer"

master_is_new () { [ -n "$(master_of cleared)" ] && [ "$(master_of cleared)" != "$(cat "$runs/cleared/founder-0")" ]; }
# The addresses are removed from the run's folder, and the first node is dead: an added node still joins the same run.
begin "$satin" run -n 2 -w 1 --name cleared -- "${heavy[@]}"
ok "two nodes are up, cleared" wait_for $((10 * slow)) up cleared 2
kill -9 "$(cat "$runs/cleared/founder-0")"
ok "the other node is master" wait_for $((10 * slow)) master_is_new
rm "$runs"/cleared/node-*.address
try "$satin" add cleared -w 1
is "cleared: a node is added all the same" "$code" 0
ok "… and joins the other" up cleared 2
is "… and no node has founded the run again" "$(grep -l 'founds the run' "$runs"/cleared/node-*.log)" ""
finished
is "cleared: the answer" "$code:$answer" "0:$heavy_answer"

# A closed run.
begin "$satin" run -n 2 -w 1 --closed --heartbeat 0.3 --silence $((2 * slow)) --name closed -- "${heavy[@]}"
ok "two nodes are up, closed" wait_for $((10 * slow)) up closed 2
try "$satin" add closed --site here
is "a closed run without sites: exit code" "$code" 1
try "$satin" add closed
is "a closed run takes no more nodes" "$code:$words" \
  "1:satin: run 'closed' is closed: it was started with --closed, and takes no more nodes"
try env SATIN_RUN_FOLDER="$runs/closed" "${heavy[@]}"
is "… not even a node that is started by hand" "$code:$answer:$words" \
  "1::satin: run 'closed' is closed: it was started with --closed, and takes no more nodes"
ok "the master logs the refusal" grep -q 'is refused: the run is closed' "$runs"/closed/node-*.log
other=$(other_of closed)
only_one () { [ "$(nodes_of closed | wc -l)" -eq 1 ]; }
kill -STOP "$other"
ok "a stopped member is removed from the roster" wait_for $((10 * slow)) only_one
kill -CONT "$other"
ok "… and joins again when it continues" wait_for $((10 * slow)) up closed 2
finished
is "closed: the answer" "$code:$answer" "0:$heavy_answer"

# All nodes of a closed run are gone: a node that is started by hand does not found the run again.
begin "$satin" run -n 1 -w 1 --closed --name shut -- "${heavy[@]}"
ok "one node is up, shut" wait_for $((10 * slow)) up shut 1
kill -STOP "$begun"
kill -9 "$(master_of shut)"
try env SATIN_RUN_FOLDER="$runs/shut" "${heavy[@]}"
is "a node started by hand for a closed run without members" "$code:$words" \
  "1:satin: run 'shut' is closed: it was started with --closed, and takes no more nodes"
kill -CONT "$begun"
ended
is "… and the run has no answer" "$code:$answer" "1:"
wait "$stranger"
is "a node with another program is refused, and says why" "$?:$(sed 's/node [0-9]*/node N/; s/link [0-9]*/link N/' "$work/stranger.words")" \
  "1:satin: node N is left out: no node of the run lets this one in: link N closed: another program, other arguments or another version of satin"
kill "$strange"
wait "$strange" 2>/dev/null
finish

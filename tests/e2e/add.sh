#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `satin add`: nodes that come in mid-run, from another terminal, and carry the run on when the first ones are gone.
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
is "which are named" "$(sort <<<"$answer")" \
  "$("$satin" status grows | awk -v first="$first" '$2 != first && / up / { print "node " $1 " has joined run '"'grows'"'" }' | sort)"
ok "three nodes are up" up grows 3
for added in $(nodes_of grows | awk -v first="$first" '$1 != first { print $1 }'); do
  ok "what is added works" wait_for $((10 * slow)) has_worked grows 0.1 "$added"
done
kill -9 "$first"
finished
is "those that were added go on when the first is killed" "$code:$answer" "0:$heavy_answer"
is "… which is said" "$(head -n 1 <<<"$words")" "satin: node $first died (signal 9); 2 go on"
ok "nobody is left" wait_for 10 no_nodes

# Nobody lets the newcomer in, and then it is the only one left.
begin "$satin" run -n 1 -w 1 --name bereft --checkpoint "$work/b.db" --interval 0.5 -- "${heavy[@]}"
ok "one node is up, bereft" wait_for $((10 * slow)) up bereft 1
first=$(master_of bereft)
kill -STOP "$first"
"$satin" add bereft -w 1 2>"$work/added.words" &
added=$!
two_logs () { [ "$(find "$runs/bereft" -name 'node-*.log' | wc -l)" -ge 2 ]; }
ok "a second one begins" wait_for $((10 * slow)) two_logs
kill -9 "$first"
finished
is "one that had not joined when all the others died founds the run again" "$code:$answer" "0:$heavy_answer"
wait "$added"
is "who added it knows that it is there" "$?:$(cat "$work/added.words")" "0:"
ok "nobody is left, bereft" wait_for 10 no_nodes

try "$satin" add grows
is "a run that has gone" "$code" 1
try "$satin" add
is "no run said" "$code" 2
try "$satin" add grows -n 0
is "no nodes" "$code" 2

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
finished
is "inside: the answer" "$code:$answer" "0:$heavy_answer"

begin "$satin" run -n 1 -w 1 --name opens --listen 127.0.0.1 -- "${heavy[@]}"
ok "one node is up, listening" wait_for $((10 * slow)) up opens 1
"$satin" add opens --sites "$work/sites" 2>"$work/added.words" &
added=$!
ok "two of another site come" wait_for $((20 * slow)) up opens 3
finished
is "opens: the answer" "$code:$answer" "0:$heavy_answer"
wait "$added"
is "who added them ends with them" "$?:$(cat "$work/added.words")" "0:"
ok "nothing is left there" wait_for 10 no_far
no_far || { ls -lR "$work/far"; said_by /held; } | sed 's/^/# /'

# A program that has been replaced since; it tries for half a minute, and is looked at when this script ends.
cp "$SATIN_BIN/sleep" "$work/replaced"
"$satin" run -n 1 -w 1 --name strange -- "$work/replaced" 1000 --depth 9 2>/dev/null &
strange=$!
ok "one node is up, strange" wait_for $((10 * slow)) up strange 1
rm "$work/replaced"
cp "$SATIN_BIN/fib" "$work/replaced"
"$satin" add strange 2>"$work/stranger.words" &
stranger=$!

# Sites go and come.
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
is "nobody of such a site" "$code:$words" \
  "1:satin: run 'sites' has no node of site 'elsewhere'; \`satin status sites\` lists them"
try "$satin" leave sites --site there
is "a site leaves" "$code" 0
is "the other goes on" "$(sites_of sites)" "here:1"
ok "nothing is left there" wait_for 10 no_far
"$satin" add sites --site there -n 3 >"$work/added.answer" 2>"$work/added.words" &
added=$!
ok "more of it come back" wait_for $((20 * slow)) has_sites sites "here:1 there:3"
try "$satin" add sites --site here
is "and one here" "$code:$words" "0:"
ok "which is named" grep -qE "^node [0-9.]+ has joined run 'sites' at site 'here'$" <<<"$answer"
ok "it belongs to its site" has_sites sites "here:2 there:3"
finished
is "sites: the answer" "$code:$answer" "0:$heavy_answer"
wait "$added"
is "who added them ends with them" "$?:$(cat "$work/added.words")" "0:"
is "… and has named them" "$(sed 's/node [0-9]*\.[0-9]* /node N /' "$work/added.answer" | sort | uniq -c | tr -s ' ')" \
  " 3 node N has joined run 'sites' at site 'there'"

# Every way to steal comes to the same answer.
for way in rs mw; do
  try_freed "$satin" run --sites "$work/two" --steal $way -- "${heavy[@]}"
  is "two sites, --steal $way" "$code:$answer" "0:$heavy_answer"
done
try "$satin" run --steal bees -- "${heavy[@]}"
is "no way to steal" "$code" 2

# A node process that somebody starts by hand.
begin "$satin" run -n 1 -w 1 --name open -- "${heavy[@]}"
ok "one node is up, open" wait_for $((10 * slow)) up open 1
env SATIN_RUN_FOLDER="$runs/open" "${heavy[@]}" >/dev/null 2>&1 &
ok "one that is started by hand joins an open run" wait_for $((10 * slow)) up open 2
finished
is "open: the answer" "$code:$answer" "0:$heavy_answer"

master_is_new () { [ -n "$(master_of cleared)" ] && [ "$(master_of cleared)" != "$(cat "$runs/cleared/founder-0")" ]; }
# Somebody has cleared the run's folder of addresses, and the first node is gone: it is the same run still.
begin "$satin" run -n 2 -w 1 --name cleared -- "${heavy[@]}"
ok "two nodes are up, cleared" wait_for $((10 * slow)) up cleared 2
kill -9 "$(cat "$runs/cleared/founder-0")"
ok "the other is master" wait_for $((10 * slow)) master_is_new
rm "$runs"/cleared/node-*.address
try "$satin" add cleared -w 1
is "cleared: a node is added all the same" "$code" 0
ok "… and joins the other" up cleared 2
is "… nobody has founded the run anew" "$(grep -l 'founds the run' "$runs"/cleared/node-*.log)" ""
finished
is "cleared: the answer" "$code:$answer" "0:$heavy_answer"

# A closed run.
begin "$satin" run -n 2 -w 1 --closed --heartbeat 0.3 --silence $((2 * slow)) --name closed -- "${heavy[@]}"
ok "two nodes are up, closed" wait_for $((10 * slow)) up closed 2
try "$satin" add closed --site here
is "a run without sites that is closed" "$code" 1
try "$satin" add closed
is "a closed run takes no more nodes" "$code:$words" \
  "1:satin: run 'closed' is closed: it was started with --closed, and takes no more nodes"
try env SATIN_RUN_FOLDER="$runs/closed" "${heavy[@]}"
is "nor one that is started by hand" "$code:$answer:$words" \
  "1::satin: run 'closed' is closed: it was started with --closed, and takes no more nodes"
ok "the master has said so" grep -q 'is refused: the run is closed' "$runs"/closed/node-*.log
other=$(other_of closed)
only_one () { [ "$(nodes_of closed | wc -l)" -eq 1 ]; }
kill -STOP "$other"
ok "one of its own that stands still is given up" wait_for $((10 * slow)) only_one
kill -CONT "$other"
ok "and comes back" wait_for $((10 * slow)) up closed 2
finished
is "closed: the answer" "$code:$answer" "0:$heavy_answer"

# Nobody is left of it: who comes by hand does not begin it anew.
begin "$satin" run -n 1 -w 1 --closed --name shut -- "${heavy[@]}"
ok "one node is up, shut" wait_for $((10 * slow)) up shut 1
kill -STOP "$begun"
kill -9 "$(master_of shut)"
try env SATIN_RUN_FOLDER="$runs/shut" "${heavy[@]}"
is "a closed run of which nobody is left" "$code:$words" \
  "1:satin: run 'shut' is closed: it was started with --closed, and takes no more nodes"
kill -CONT "$begun"
ended
is "it has no answer" "$code:$answer" "1:"
wait "$stranger"
is "another program is not let in, and that is said" "$?:$(sed 's/node [0-9]*/node N/; s/link [0-9]*/link N/' "$work/stranger.words")" \
  "1:satin: node N is left out: no node of the run lets this one in: link N closed: another program, other arguments or another version of satin"
kill "$strange"
wait "$strange" 2>/dev/null
finish

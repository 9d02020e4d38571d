#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nodes leave during a run, by `satin leave` and by SIGTERM: the answer is right, and hardly any job is computed twice,
# whichever node leaves. The last node cannot leave by command; a SIGTERM to all suspends the run.
. "$(dirname "$0")/lib.sh"
export NAPS_LOG=$work/naps NAPS_HASTE=$work/haste NAPS_LONG=$work/long
naps=$SATIN_BIN/../tests/e2e/naps

# The nodes of RUN, one a line: ID PID [ROLES].
ids_of ()
{
  "$satin" status "$1" --json 2>/dev/null | tr -d ' \n' | sed 's/.*"nodes":\[//' | sed 's/},{/}\n{/g' \
    | sed -n 's/.*"id":"\([0-9.]*\)".*"pid":\([0-9]*\).*"roles":\[\([^]]*\)\].*/\1 \2 [\3]/p'
}
hastened () { touch "$NAPS_HASTE"; ended; rm "$NAPS_HASTE"; } # lets the leaves of the begun command end, and waits for it
leaves () { wc -c <"$NAPS_LOG"; }
depth=13 all=8192 # so many leaves that the run cannot end before `hastened`
computed () { [ -e "$NAPS_LOG" ] && [ "$(leaves)" -ge "$1" ]; }
figure () { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$work/figures"; }
# At most 20 leaves are computed twice: those that were running when their node had to go.
few_twice () { [ "$(leaves)" -le $((all + 20)) ]; }

# Half of the nodes leave, the master and the coordinator among them.
rm -f "$NAPS_LOG"
begin "$satin" run -n 4 -w 2 --name half --stats "$work/figures" --checkpoint "$work/half.db" --interval 1 -- "$naps" 100 $depth
ok "half: four nodes are up" wait_for $((10 * slow)) up half 4
ok "half: work is under way" wait_for $((10 * slow)) computed 100
read -r first first_pid _ < <(ids_of half)
read -r second _ < <(ids_of half | sed -n 3p)
try "$satin" leave half "$second"
is "a node leaves" "$code" 0
ok "the message says so, and what was lost" grep -q "^satin: node $second has left\(; [0-9.]* s of work could not be handed over\)\?$" <<<"$words"
try "$satin" leave half "$first"
is "the master leaves" "$code" 0
ok "its process is gone" wait_for $((5 * slow)) gone "$first_pid"
is "two nodes go on" "$(ids_of half | grep -c .)" 2
hastened
is "half: the answer" "$code:$answer" "0:$all"
ok "half: hardly any leaf was computed twice" few_twice
echo "# $(leaves) leaves of $all; redone $(figure redone_s) s of $(figure work_s) s"
is "a node that leaves does not count as crashed" "$(figure crashes)" 0
is "both are in the ledger" \
  "$(sqlite3 "$work/half.db" "SELECT count (*) FROM event WHERE kind = 'leave'" 2>&1)" 2
is "both have left in the file's table of nodes" \
  "$(sqlite3 "$work/half.db" "SELECT count (*) FROM node WHERE left IS NOT NULL" 2>&1)" 2

# Two nodes leave at once by a signal, without a checkpoint.
rm -f "$NAPS_LOG"
begin "$satin" run -n 4 -w 2 --name signal --stats "$work/figures" -- "$naps" 100 $depth
ok "signal: four nodes are up" wait_for $((10 * slow)) up signal 4
ok "signal: work is under way" wait_for $((10 * slow)) computed 100
pids=$(ids_of signal | awk 'NR == 1 || NR == 4 { print $2 }')
# shellcheck disable=SC2086
kill -TERM $pids
for pid in $pids; do
  ok "signal: $pid is gone" wait_for $((8 * slow)) gone "$pid"
done
is "signal: two nodes go on" "$(ids_of signal | grep -c .)" 2
hastened
is "signal: the answer" "$code:$answer" "0:$all"
ok "signal: hardly any leaf was computed twice" few_twice
echo "# $(leaves) leaves of $all; redone $(figure redone_s) s of $(figure work_s) s"

# A job that takes longer than the time that --within gives its node.
begin "$satin" run -n 2 -w 1 --name long -- "$naps" 500 6
ok "long: two nodes are up" wait_for $((10 * slow)) up long 2
ok "long: both work" wait_for $((10 * slow)) grep -qs '"steals_remote":[1-9]' "$runs"/long/node-*.stats
touch "$NAPS_LONG"
read -r second _ < <(ids_of long | sed -n 2p)
try "$satin" leave long "$second" --within 0.2
is "long: its node leaves anyway" "$code" 0
ok "long: and does not wait for its job" grep -qs 'jobs still ran when the time was over' "$runs"/long/node-*.log
try "$satin" leave long 1.1
is "the last node cannot leave" "$code:$words" \
  "1:satin: no node would stay in run 'long'; \`satin suspend long\` stops the whole run"
try "$satin" leave long 9.9
is "leave of an unknown node" "$code:$words" "1:satin: run 'long' has no node '9.9'; \`satin status long\` lists them"
try "$satin" leave long
is "leave without a node: exit code" "$code" 2
try "$satin" leave long 1.1 --within soon
is "no time" "$code" 2
hastened
rm "$NAPS_LONG"
is "long: the answer" "$code:$answer" "0:64"

# A stopped node does not leave. (Messages are printed once.)
begin "$satin" run -n 2 -w 1 --name still -- "$naps" 1000 10
ok "still: two nodes are up" wait_for $((10 * slow)) up still 2
second_pid=$(other_of still) second=$(ids_of still | awk -v pid="$second_pid" '$2 == pid { print $1 }')
kill -STOP "$second_pid"
try "$satin" leave still "$second" --within 0
is "still: the node that has not left is named" "$code:$words" \
  "1:satin: node $second was asked, but has not left: \`satin log still $second\` may say why"
"$satin" leave still "$second" 2>"$work/still.words" &
leaver=$!
ok "still: satin leave waits for the node" wait_for $((10 * slow)) eval 'compgen -G "$runs/still/*.stays" >/dev/null'
try "$satin" cancel still
wait "$leaver"
is "still: satin leave says that the run has ended" "$?:$(cat "$work/still.words")" "0:satin: run 'still' has ended (exit code 7)"
kill -CONT "$second_pid" 2>/dev/null
ended

# All nodes get SIGTERM at once, as from a batch system at the end of the time: the run is suspended and can be resumed from
# what was saved.
rm -f "$NAPS_LOG"
begin "$satin" run -n 3 -w 2 --name all --checkpoint "$work/all.db" -- "$naps" 100 $depth
ok "all: three nodes are up" wait_for $((10 * slow)) up all 3
ok "all: work is under way" wait_for $((10 * slow)) computed 100
# shellcheck disable=SC2046
kill -TERM $(our_nodes)
ended
is "all: suspended" "$code" 75
touch "$NAPS_HASTE"
try "$satin" resume "$work/all.db" -n 2
is "all: the answer" "$code:$answer" "0:$all"
ok "all: hardly any leaf was computed twice" few_twice
echo "# $(leaves) leaves of $all"
ok "no process is left" wait_for 10 no_nodes
finish

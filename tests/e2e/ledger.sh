#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The ledger and the figures add up, whichever nodes die. TIMES coordinators (default 6), half as many masters, and some of both
# at once are killed; `satin add` replaces each. Then everything is killed. A resumed run loses some more nodes and ends. The
# jobs sleep, so that nodes do not take processors from each other.
. "$(dirname "$0")/lib.sh"
times=${1:-6}
file=$work/c.db
# The leaves stop sleeping when the test has killed all that it wants: on a busy machine no fixed number of leaves would last
# long enough.
export NAPS_HASTE=$work/haste
naps=("$SATIN_BIN/../tests/e2e/naps" 100 14)
killed=0 n=0 live_us=0

ask () { sqlite3 "file:$file?mode=ro" "$1"; }
role_of () { nodes_of "$run" | awk -v role="\"$1\"" 'index ($2, role) { print $1; exit }'; }
has_role () { victim=$(role_of "$1"); [ -n "$victim" ]; }
is_up () { up "$run" 3 && has_role coordinator && has_role master; }
# told: for each survivor of the last kill_roles, how many nodes its log must list as dead.
declare -A told
say_left () { grep -c ' left (gone)' "$XDG_STATE_HOME/satin/runs/$run/node-$1.log"; } # PID
is_known () { local pid; for pid in "${!told[@]}"; do [ "$(say_left "$pid")" -ge "${told[$pid]}" ] || return 1; done; }
is_up_again () { is_known && is_up; }
has_worked () { has_rows "$file" 1; }
figure () { tr -d ' {}\n' <"$work/$1.json" | tr , '\n' | sed -n "s/^\"$2\"://p"; } # FILE NAME
holds () { awk "BEGIN { exit !($1) }"; }
now_us () { echo "${EPOCHREALTIME/./}"; }

# Adds the time of three seats since the last call: three nodes with a worker each.
count_life () { local now; now=$(now_us); live_us=$((live_us + 3 * (now - since_us))) since_us=$now; }

# Kills the nodes that have these roles at once and adds as many. Does not wait between the kills and `satin add`, so that the
# next death may come while a coordinator still takes over.
kill_roles ()
{
  local role killed_us pid victims=
  for role in "$@"; do
    wait_for $((60 * slow)) has_role "$role" || { echo "# nobody is $role"; return 1; }
    case " $victims " in *" $victim "*) ;; *) victims="$victims $victim" ;; esac
  done
  # shellcheck disable=SC2086
  set -- $victims
  told=()
  for pid in $(nodes_of "$run" | awk '{ print $1 }'); do
    case "$victims " in *" $pid "*) ;; *) told[$pid]=$(($(say_left "$pid") + $#)) ;; esac
  done
  kill -9 "$@"
  killed_us=$(now_us)
  n=$((n + $#)) killed=$((killed + $#))
  "$satin" add "$run" -n $# -w 1 2>"$work/added.words" || { sed 's/^/# add: /' "$work/added.words"; return 1; }
  wait_for $((60 * slow)) is_up_again || { nodes_of "$run" | sed 's/^/# node: /'; return 1; }
  # Until the other nodes know that they are dead, the victims count as working, beside their replacements.
  live_us=$((live_us + $# * ($(now_us) - killed_us)))
}

kill_many () # TIMES
{
  local i
  for ((i = 1; i <= $1; i++)); do
    ok "$run: coordinator $i" kill_roles coordinator
    [ $((i % 2)) = 0 ] || ok "$run: master $i" kill_roles master
    [ $((i % 4)) = 0 ] && ok "$run: both, $i" kill_roles coordinator master
  done
}

balances () # NAME PRESENT: all nodes that joined have left, except PRESENT nodes
{
  is "$1: each node has joined once" "$(ask "SELECT count(*) FROM (SELECT node FROM event WHERE kind = 'joined' GROUP BY 1 HAVING count(*) <> 1)")" 0
  is "$1: … and left once at most" "$(ask "SELECT count(*) FROM (SELECT node FROM event WHERE kind = 'left' GROUP BY 1 HAVING count(*) <> 1)")" 0
  is "$1: every node that left had joined" \
    "$(ask "SELECT count(*) FROM event WHERE kind = 'left' AND node NOT IN (SELECT node FROM event WHERE kind = 'joined')")" 0
  is "$1: the other nodes are present" \
    "$(ask "SELECT (SELECT count(*) FROM event WHERE kind = 'joined') - (SELECT count(*) FROM event WHERE kind = 'left')")" "$2"
  is "$1: the table of nodes says the same" \
    "$(ask "SELECT count(*), count(joined), count(*) - count(left) FROM node")" \
    "$(ask "SELECT count(*) || '|' || count(*) || '|$2' FROM event WHERE kind = 'joined'")"
  is "$1: … and so does the view" "$(ask "SELECT count(*) FROM who WHERE node IS NOT NULL AND left_utc IS NULL")" "$2"
  is "$1: as many nodes are gone as were killed" "$(ask "SELECT count(*) FROM event WHERE kind = 'left' AND detail LIKE 'gone%'")" $killed
  is "$1: only nodes that left had jobs that came back" \
    "$(ask "SELECT count(DISTINCT node) FROM event WHERE kind = 'requeued' AND node NOT IN (SELECT node FROM event WHERE kind = 'left')")" 0
  is "$1: nothing is negative" "$(ask "SELECT count(*) FROM event WHERE work_s < 0")" 0
}

# NAME: the salvaged work is a part of the work that was done.
holds_salvage () { ok "$1: the salvaged work had been done" holds "$(figure "$1" salvaged_s) >= 0 && $(figure "$1" salvaged_s) <= $(figure "$1" work_s)"; }

run=first since_us=$(now_us)
begin "$satin" run -n 3 -w 1 --name first --checkpoint "$file" --interval 0.3 --stats "$work/first.json" -- "${naps[@]}"
ok "three nodes are up" wait_for $((20 * slow)) is_up
kill_many "$times"
ok "rows are saved" wait_for $((20 * slow)) has_worked
"$satin" suspend first 2>/dev/null
ended
count_life
is "suspended" "$code" 75
balances suspended 3
is "suspended: --stats counts the crashes" "$(figure first crashes)" $killed
is "suspended: … and all nodes" "$(figure first nodes)" $((3 + killed))
is "suspended: slots that came back have a row" \
  "$(ask "SELECT count(DISTINCT node) > 0 FROM event WHERE kind = 'requeued'")" 1
lost=$(ask "SELECT total(work_s) FROM event WHERE kind = 'requeued'")
# If a node is killed before its row is published, the row is lost. The figures that it wrote at once stay.
ok "suspended: the rows show no more than was lost" holds "$lost <= $(figure first lost_s) + 0.001"
ok "suspended: … and of most of it" holds "$lost > 0 && $lost >= $(figure first lost_s) / 2"
ok "suspended: no more work than the nodes had time for" holds "$(figure first work_s) <= 1.02 * $live_us / 1e6"
# One death loses no more than was done before it. The sum over all deaths has no such bound: a copy that no node knew of counts
# with each death.
worst=$(ask "SELECT max(w) FROM (SELECT total(work_s) AS w FROM event WHERE kind = 'requeued' GROUP BY node)")
ok "suspended: … and no death lost more than was done" holds "$worst <= 1.02 * $(figure first work_s) + 0.1"

# The next run of the checkpoint loses all its nodes.
run=second n=0 elected=$(ask "SELECT count(*) FROM event WHERE kind = 'elected'")
begin "$satin" resume "$file" -n 3 -w 1 --name second --interval 0.3
ok "three nodes resume it" wait_for $((20 * slow)) is_up
is_published () { [ "$(ask "SELECT count(*) FROM node WHERE left IS NULL")" = 3 ] && [ "$(ask "SELECT count(*) FROM event WHERE kind = 'elected'")" -gt "$elected" ]; }
ok "the new nodes are published" wait_for $((20 * slow)) is_published
# shellcheck disable=SC2046
kill -9 $(our_nodes)
ended
is "all are lost" "$code" 1
killed=$((killed + 3))

run=third n=0 live_us=0 since_us=$(now_us)
begin "$satin" resume "$file" -n 3 -w 1 --name third --interval 0.3 --stats "$work/third.json"
ok "three nodes resume it again" wait_for $((20 * slow)) is_up
kill_many 2
"$satin" add third -n 8 -w 1 2>>"$work/added.words"
added=8
touch "$NAPS_HASTE"
ended
count_life
is "the answer is right" "$code:$answer" 0:16384
balances finished $((3 + added))
is "finished: --stats counts the crashes of this run" "$(figure third crashes)" $n
is "finished: … and its nodes" "$(figure third nodes)" $((3 + n + added))
ok "finished: redone work is a part of all work" holds "$(figure third redone_s) <= $(figure third work_s) && $(figure third redone_s) >= 0"
is "finished: each slot that came back has a cost" "$(ask "SELECT count(*) FROM event WHERE kind = 'requeued' AND work_s IS NULL")" 0
holds_salvage third

# A run from its start to its end: all work is either in the answer or was redone.
file=$work/whole.db run=whole n=0
rm "$NAPS_HASTE"
naps=("$SATIN_BIN/../tests/e2e/naps" 100 14)
begin "$satin" run -n 3 -w 1 --name whole --checkpoint "$file" --interval 0.3 --stats "$work/whole.json" -- "${naps[@]}"
ok "three nodes are up" wait_for $((20 * slow)) is_up
has_saved () { [ "$(ask "SELECT total(work_s) > $1 FROM result")" = 1 ]; } # SECONDS of work
for i in 1 2 3 4 5 6 7 8; do
  ok "whole: $((2 * i)) s are saved" wait_for $((20 * slow)) has_saved $((2 * i))
  ok "whole: coordinator $i" kill_roles coordinator
done
touch "$NAPS_HASTE"
ended
is "whole: the answer is right" "$code:$answer" "0:16384"
root=$(ask "SELECT work_s FROM result WHERE path = ''")
echo "# whole: work $(figure whole work_s), redone $(figure whole redone_s), root $root, salvaged $(figure whole salvaged_s)"
ok "whole: work without redone work is the work in the answer" \
  holds "($(figure whole work_s) - $(figure whole redone_s) - $root) ^ 2 <= (0.02 * $root + 3 * 0.02) ^ 2"
holds_salvage whole

# A program alone writes the figures of a finished checkpoint, too: no job has run.
try "${naps[@]}" --checkpoint "$file" --stats "$work/alone.json"
is "alone: the kept answer" "$code:$answer" "0:16384"
is "alone: --stats is written" "$(figure alone nodes):$(figure alone jobs)" 1:0
finish

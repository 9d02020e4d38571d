#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A network split. A short one has no effect. In a long one both sides go on. When they meet again, the elder master remains,
# the results of both sides are used and are in one file, and the answer is shown once.
. "$(dirname "$0")/netns.sh"
. "$(dirname "$0")/lib.sh"
naps=$SATIN_BIN/../tests/e2e/naps
log=$work/leaves haste=$work/haste

sites () # HOST…: a file of sites, one node each
{
  local i
  for i in "$@"; do
    printf '[site s%s]\nhosts = h%s\nworkers = 2\nlisten = 10.9.%s.1\ncommand = %s\n' "$i" "$i" "$i" "$(away "$i")"
    printf 'setup = NAPS_LOG=%s.%s NAPS_HASTE=%s; export NAPS_LOG NAPS_HASTE\n' "$log" "$i" "$haste"
  done
}
leaves () { [ -e "$log.$1" ] && stat -c %s "$log.$1" || echo 0; } # HOST
goes_on () { [ "$(leaves "$1")" -gt "$2" ]; }    # HOST LEAVES
says () { grep -qs "$2" "$runs/$1"/node-*.log; } # RUN WORDS
# HOST RUN: the nodes of RUN as a node on HOST sees them, and which is master.
seen_from () # sets seen, their number, and master
{
  local json line
  json=$(at "$1" "$satin" status "$2" --json 2>/dev/null)
  json=${json//[ $'\n']/}
  json=${json#*'"nodes":['}
  seen=0 master=''
  while read -r line; do
    [[ $line == *'"pid"'* ]] && seen=$((seen + 1))
    [[ $line =~ .*'"pid":'([0-9]*),.*'"master"' ]] && master=${BASH_REMATCH[1]}
  done <<<"${json//'},{'/$'}\n{'}"
}
# find_master sets `elder` to the master that host 1 sees; elder_leads: that node is master again.
find_master () { seen_from 1 "$1"; elder=$master; [ -n "$elder" ]; } # RUN
elder_leads () { seen_from 1 "$1"; [ "$master" = "$elder" ]; }       # RUN
one_master () # RUN HOST HOST NODES
{
  local one
  seen_from "$2" "$1"
  one=$master
  [ -n "$one" ] && [ "$seen" -eq "$4" ] || return
  seen_from "$3" "$1"
  [ "$seen" -eq "$4" ] && [ "$master" = "$one" ]
}
start () # NAME DEPTH OPTION…
{
  local name=$1 depth=$2
  shift 2
  rm -f "$haste" "$log".*
  begin "$satin" run --heartbeat 2 --silence 8 --sites "$work/sites" --name "$name" --stats "$work/figures" "$@" -- "$naps" 400 "$depth"
}
both_work () { goes_on 1 4 && goes_on 2 4; }

ok "four hosts" wan_begin 4 || finish
sites 1 2 >"$work/sites"
wan "delay * * 5"

# A cut longer than half of the limit of silence, so that each side suspects the other, but shorter than the limit. A trial that
# took too long on a busy machine is repeated.
cut_shortly ()
{
  local since=${EPOCHREALTIME/[.,]/}
  wan_cut 2
  sleep 4.5 # two heartbeats are lost
  before=$(leaves 2)
  wan_join 2
  [ $((${EPOCHREALTIME/[.,]/} - since)) -lt 6000000 ]
}
for ((trial = 0; trial < 10; trial++)); do
  start short 8
  ok "short: both work" wait_for $((20 * slow)) both_work
  if cut_shortly; then break; fi
  touch "$haste"
  ended
done
ok "short: the cut is shorter than the limit" [ $trial -lt 10 ]
ok "short: no node is taken for dead" eval '! says short "is dead"'
ok "short: the cut-off node went on" goes_on 2 $((before - 1))
touch "$haste"
ended
is "short: the answer" "$code:$answer" "0:256"
is "short: no messages" "$words" ""
ok "short: no leaf was computed twice" [ $(($(leaves 1) + $(leaves 2))) -eq 256 ]

# A cut longer than the limit.
for where in none file; do
  options=()
  [ $where = file ] && options=(--checkpoint "$work/split.db" --interval 1)
  start "$where" 11 "${options[@]}"
  ok "$where: both work" wait_for $((20 * slow)) both_work
  ok "$where: there is a master" wait_for 20 find_master "$where"
  wan_cut 2
  ok "$where: there are two masters" wait_for 60 says "$where" "is master now"
  here=$(leaves 1) there=$(leaves 2)
  ok "$where: both sides go on" wait_for $((20 * slow)) eval 'goes_on 1 $here && goes_on 2 $there'
  [ $where = file ] && sleep 5 # so that the second coordinator saves rows
  wan_join 2
  ok "$where: both sides meet, with one master" wait_for 60 one_master "$where" 1 2 2
  ok "$where: it is the elder master" wait_for 20 elder_leads "$where"
  ok "$where: the results of the other root are offered" wait_for 20 says "$where" "the job at / runs elsewhere"
  sleep 1 # the offers must arrive before the leaves stop sleeping
  touch "$haste"
  ended
  is "$where: the answer, once" "$code:$answer" "0:2048"
  all=$(($(leaves 1) + $(leaves 2)))
  echo "# $all leaves of 2048"
  ok "$where: few leaves were computed twice" [ $all -le 2560 ]
done
ok "file: the checkpoint is sound" integrity "$work/split.db"
try "$satin" inspect --verify "$work/split.db"
is "file: every row is sound" "$code" 0
try "$satin" resume "$work/split.db"
is "file: the checkpoint has the answer" "$code:$answer" "0:2048"

# Four hosts in a row, where each reaches only its neighbours. The row is cut in the middle.
sites 1 2 3 4 >"$work/sites"
start row 13
ok "row: four nodes are up" wait_for $((20 * slow)) up row 4
for pair in "1 3" "3 1" "1 4" "4 1" "2 4" "4 2"; do wan "cut $pair"; done
ok "row: the ends communicate through the middle" wait_for 60 says row "1\.[1-4] is reached through"
ok "row: there is a master" wait_for 20 find_master row
wan "cut 2 3" "cut 3 2"
ok "row: there are two masters" wait_for 60 says row "is master now"
for i in 1 2 3 4; do
  so_far=$(leaves $i)
  ok "row: host $i goes on" wait_for $((20 * slow)) goes_on $i $((so_far + 2))
done
wan "join 2 3" "join 3 2"
ok "row: both halves meet, with one master" wait_for 90 one_master row 1 4 4
ok "row: it is the elder master" wait_for 20 elder_leads row
for i in 1 2 3 4; do
  so_far=$(leaves $i)
  ok "row: host $i works" wait_for $((20 * slow)) goes_on $i $((so_far + 2))
done
touch "$haste"
ended
is "row: the answer, once" "$code:$answer" "0:8192"
for pair in "1 3" "3 1" "1 4" "4 1" "2 4" "4 2"; do wan "join $pair"; done
sites 1 2 >"$work/sites"

# The split does not end: both sides compute the answer, and one answer is shown.
start never 8
ok "never: both work" wait_for $((20 * slow)) both_work
wan_cut 2
ok "never: there are two masters" wait_for 60 says never "is master now"
touch "$haste"
ended
is "never: the answer, once" "$code:$answer" "0:256"
finish

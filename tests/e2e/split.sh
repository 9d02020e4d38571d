#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A network that falls apart for a while: a short cut is ridden out; in a long one both sides go on, and when they meet there
# is one master, what both have saved stands in one file, and the answer is shown once.
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
leaves () { cat "$log.$1" 2>/dev/null | wc -c; } # HOST
goes_on () { [ "$(leaves "$1")" -gt "$2" ]; }    # HOST LEAVES
says () { cat "$runs/$1"/node-*.log 2>/dev/null | grep -q "$2"; } # RUN WORDS
# What a node of HOST says of RUN: its nodes, and which is master.
seen_from () { at "$1" "$satin" status "$2" --json 2>/dev/null | tr -d ' \n' | sed 's/.*"nodes":\[//; s/},{/}\n{/g'; }
sees () { [ "$(seen_from "$1" "$2" | grep -c '"pid"')" -eq "$3" ]; } # HOST RUN NODES
master_seen () { seen_from "$1" "$2" | sed -n 's/.*"pid":\([0-9]*\),.*"master".*/\1/p'; }
one_master () # RUN HOST HOST NODES
{
  local one other
  sees "$2" "$1" "$4" && sees "$3" "$1" "$4" || return
  one=$(master_seen "$2" "$1") other=$(master_seen "$3" "$1")
  [ -n "$one" ] && [ "$one" = "$other" ]
}
start () # NAME DEPTH OPTION…
{
  local name=$1 depth=$2
  shift 2
  rm -f "$haste" "$log".*
  begin "$satin" run --heartbeat 2 --silence 8 --sites "$work/sites" --name "$name" --stats "$work/figures" "$@" -- "$naps" 400 "$depth"
}
both_work () { goes_on 1 4 && goes_on 2 4; }

ok "two hosts" wan_begin 2 || finish
sites 1 2 >"$work/sites"
wan "delay * * 5"

# Shorter than the limit of silence.
start short 8
ok "short: both work" wait_for $((20 * slow)) both_work
wan_cut 2
sleep 4
before=$(leaves 2)
wan_join 2
ok "short: nobody is taken for dead" eval '! says short "is dead"'
ok "short: it went on" goes_on 2 $((before - 1))
touch "$haste"
ended
is "short: the answer" "$code:$answer" "0:256"
is "short: no words" "$words" ""
ok "short: no leaf was computed twice" [ $(($(leaves 1) + $(leaves 2))) -eq 256 ]

# Longer.
for where in none file; do
  options=()
  [ $where = file ] && options=(--checkpoint "$work/split.db" --interval 1)
  start "$where" 11 "${options[@]}"
  ok "$where: both work" wait_for $((20 * slow)) both_work
  wan_cut 2
  ok "$where: there are two masters" wait_for 60 says "$where" "is master now"
  here=$(leaves 1) there=$(leaves 2)
  ok "$where: both sides go on" wait_for $((20 * slow)) eval 'goes_on 1 $here && goes_on 2 $there'
  [ $where = file ] && sleep 5 # for the second coordinator to save some
  wan_join 2
  ok "$where: they meet, under one master" wait_for 60 one_master "$where" 1 2 2
  touch "$haste"
  ended
  is "$where: the answer, once" "$code:$answer" "0:2048"
  echo "# $(($(leaves 1) + $(leaves 2))) leaves of 2048"
done
ok "file: it is sound" integrity "$work/split.db"
try "$satin" inspect --verify "$work/split.db"
is "file: every row is right" "$code" 0
try "$satin" resume "$work/split.db"
is "file: it has the answer" "$code:$answer" "0:2048"

# It does not heal: both sides come to the answer.
start never 8
ok "never: both work" wait_for $((20 * slow)) both_work
wan_cut 2
ok "never: there are two masters" wait_for 60 says never "is master now"
touch "$haste"
ended
is "never: the answer, once" "$code:$answer" "0:256"
finish

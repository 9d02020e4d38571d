#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares the work at risk that `satin status` reports with the work that a kill costs. Kills everything with kill -9 at random
# moments, TIMES times, just after asking. The reported work is never below what the resumed run had to do again. In nine of ten
# cases it is at most that + workers x (interval + time to write + longest leaf). `make check` does a few kills, `make gauge`
# more.
. "$(dirname "$0")/lib.sh"
times=${1:-5}
naps=$SATIN_BIN/../tests/e2e/naps
ms=20 depth=10 leaves=1024 nodes=3 interval=0.5
export NAPS_LOG=$work/leaves NAPS_HASTE=$work/haste
over=0 worst=0 kills=0
done_so_far () { stat -c %s "$NAPS_LOG" 2>/dev/null || echo 0; }
has_done () { [ "$(done_so_far)" -ge "$1" ]; } # LEAVES
at_risk_ms () { sed -n 's/.*"at_risk_all_s":\([0-9.]*\),"nodes".*/\1/p' | awk '{ printf "%d", $1 * 1000 }'; }

# A run that ends before the kill is repeated, so that it does not count as a kill. Leaves of a resumed run do not sleep.
for ((i = 1; kills < times && i <= 3 * times; i++)); do
  name=g$i file=$work/g$i.satin
  rm -f "$NAPS_LOG" "$NAPS_HASTE"
  begin "$satin" run -n $nodes -w 1 --name $name --checkpoint "$file" --interval $interval -- "$naps" $ms $depth
  wait_for $((10 * slow)) up $name $nodes
  # A published file is needed for the resume.
  wait_for $((10 * slow)) [ -e "$file" ]
  victims=$(our_nodes)
  wait_for $((10 * slow)) has_done $((RANDOM % (leaves / 2)))
  asked=$(date +%s%N)
  "$satin" status $name --json >"$work/status" 2>/dev/null
  # shellcheck disable=SC2086
  kill -9 $victims 2>/dev/null
  killed=$(date +%s%N)
  ended
  [ "$code" = 0 ] && { echo "# $i: it was over before"; rm -rf "$file" "${runs:?}"/*; continue; }
  kills=$((kills + 1))
  first=$(done_so_far)
  said=$(at_risk_ms <"$work/status")
  touch "$NAPS_HASTE"
  try "$satin" resume "$file" -n $nodes -w 1
  [ "$answer" = $leaves ] || ok "$i: the answer is right" false
  redone=$((($(done_so_far) - leaves) * ms))
  # Work that was done between the question and the kill.
  slack=$(((killed - asked) / 1000000 * nodes))
  bound=$((redone + nodes * (500 + 100 + ms) + slack))
  ok "$i: at risk $said ms (+ $slack), done again $redone ms after $((first * ms)) ms, bound $bound ms" \
    [ $((said + slack)) -ge $redone ]
  [ "$said" -gt $bound ] && over=$((over + 1))
  [ $((said - redone)) -gt $worst ] && worst=$((said - redone))
  rm -rf "$file" "${runs:?}"/*
done
is "the number of runs that were killed before their end" "$kills" "$times"
echo "# $over of $times above the bound; at most $worst ms more said than done again"
# The share of nine in ten needs more than a few kills.
[ "$times" -ge 20 ] && ok "in nine of ten the gauge is not above the bound" [ $((over * 10)) -le "$times" ]
finish

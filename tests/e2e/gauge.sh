#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the gauge said against what a kill cost: kill -9 of everything at random moments, TIMES times, just after asking
# what is at risk. The gauge is never below what the resumed run had to do again, and in nine of ten cases at most
# that + workers x (interval + time to write + longest leaf). Not part of `make check`; a few times of it are.
. "$(dirname "$0")/lib.sh"
times=${1:-5}
naps=$SATIN_BIN/../tests/e2e/naps
ms=20 depth=10 leaves=1024 nodes=3 interval=0.5
export NAPS_LOG=$work/leaves NAPS_HASTE=$work/haste
over=0 worst=0 kills=0
done_so_far () { stat -c %s "$NAPS_LOG" 2>/dev/null || echo 0; }
has_done () { [ "$(done_so_far)" -ge "$1" ]; } # LEAVES
at_risk_ms () { sed -n 's/.*"at_risk_all_s":\([0-9.]*\),"nodes".*/\1/p' | awk '{ printf "%d", $1 * 1000 }'; }

# A run that ends before the kill is made again, so that it cannot pass for a kill. What is resumed does not nap.
for ((i = 1; kills < times && i <= 3 * times; i++)); do
  name=g$i file=$work/g$i.satin
  rm -f "$NAPS_LOG" "$NAPS_HASTE"
  begin "$satin" run -n $nodes -w 1 --name $name --checkpoint "$file" --interval $interval -- "$naps" $ms $depth
  wait_for $((10 * slow)) up $name $nodes
  # Published once, there is something to resume from.
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
  # Between question and kill the clock ran on.
  slack=$(((killed - asked) / 1000000 * nodes))
  bound=$((redone + nodes * (500 + 100 + ms) + slack))
  ok "$i: at risk $said ms (+ $slack), done again $redone ms after $((first * ms)) ms, bound $bound ms" \
    [ $((said + slack)) -ge $redone ]
  [ "$said" -gt $bound ] && over=$((over + 1))
  [ $((said - redone)) -gt $worst ] && worst=$((said - redone))
  rm -rf "$file" "${runs:?}"/*
done
is "so many runs were killed before their end" "$kills" "$times"
echo "# $over of $times above the bound; at most $worst ms more said than done again"
# A few kills are too few to count.
[ "$times" -ge 20 ] && ok "in nine of ten the gauge is not above the bound" [ $((over * 10)) -le "$times" ]
finish

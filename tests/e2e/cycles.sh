#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Optimisers are in turns killed with all nodes and suspended, and resumed on another number of nodes. Their best value never
# gets worse, and each suspension shows it. Usage: cycles.sh [TIMES] (make cycles: 20; `make check`: 3).
. "$(dirname "$0")/lib.sh"
is_long && usual=20 || usual=3
times=${1-$usual}
file=$work/c.satin

# main finds a first solution before the root begins: before that it has none to show.
searches () { "$satin" status "$1" 2>/dev/null | grep -q ' at risk [0-9.]*[1-9]'; }
published () { [ -e "$file" ] && [ "$(stat -c %i:%y "$file")" != "$before" ]; }

cycles () # APP FILE BOUND SIGN: BOUND is `most` or `least`, as in its message; SIGN is -1 if smaller values are better
{
  local turn so_far best= before= app=$1 worse=0 lost=0
  for ((turn = 1; turn <= times; turn++)); do
    if [ "$turn" -eq 1 ]; then
      begin "$satin" run -n 2 -w 1 --name "$app" --checkpoint "$file" --interval 0.1 -- "$SATIN_BIN/$app" "$2"
    else
      begin "$satin" resume "$file" -n $((1 + turn % 3)) -w 1 --name "$app"
    fi
    { wait_for $((30 * slow)) searches "$app" && wait_for $((30 * slow)) published; } || lost=$((lost + 1))
    if [ $((turn % 2)) -eq 0 ]; then
      # shellcheck disable=SC2046
      kill -9 $(our_nodes) 2>/dev/null
      ended
      [ "$code" -ne 0 ] || lost=$((lost + 1))
      before=$(stat -c %i:%y "$file")
      continue
    fi
    "$satin" suspend "$app" >"$work/suspended" 2>&1
    ended
    so_far=$(sed -n "s/^$app: so far \([0-9]*\), at $3 [0-9]*, gap [0-9]*$/\1/p" <<<"$words")
    if [ "$code" -ne 75 ] || [ -z "$so_far" ]; then
      lost=$((lost + 1))
      echo "# turn $turn ended with $code and said: $words"
    elif [ $(($4 * so_far)) -lt $(($4 * ${best:-$so_far})) ]; then
      worse=$((worse + 1))
      echo "# turn $turn: $so_far after $best"
    fi
    best=${so_far:-$best} before=$(stat -c %i:%y "$file")
  done
  is "$app: $times cycles, each publishes and shows its best value" "$lost" 0
  is "$app: no best value is worse than an earlier one" "$worse" 0
  ok "$app: the checkpoint is whole" "$satin" inspect --verify "$file"
  rm -f "$file"*
}

# None of these inputs can be solved in the time. In this knapsack the bound stays far from the best packing.
total=0 x=1
for ((i = 0; i < 60; i++)); do
  x=$((x * 6364136223846793005 + 1442695040888963407))
  weight=$(((x >> 33 & 0x7fffffff) % 1000000000 + 1))
  total=$((total + weight))
  echo "$(((weight + 2) / 3 * 3)) $weight"
done >"$work/items"
{ echo "60 $((total / 3))"; cat "$work/items"; } >"$work/ever.txt"
awk 'BEGIN { x = 7; print 24; for (i = 0; i < 2 * 24 * 24; i++) { x = x * 1103 % 65537; print x % 100 } }' >"$work/ever.dat"
awk 'BEGIN { x = 7; n = 160; print "TYPE: TSP\nDIMENSION:", n, "\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION"
  for (i = 1; i <= n; i++) { x = x * 1103 % 65537; y = x; x = x * 1103 % 65537; print i, y % 1000, x % 1000 } }' >"$work/ever.tsp"
awk 'BEGIN { x = 7; n = 450; for (i = 2; i <= n; i++) for (k = 1; k < i; k++) { x = x * 1103 % 65537; if (x % 10 < 7) e[m++] = "e " i " " k }
  print "p edge", n, m; for (i = 0; i < m; i++) print e[i] }' >"$work/ever.clq"
cycles knapsack "$work/ever.txt" most 1
cycles qap "$work/ever.dat" least -1
cycles tsp "$work/ever.tsp" least -1
cycles clique "$work/ever.clq" most 1
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A search that ends with its first result: alone, on nodes, and while nodes are killed.
. "$(dirname "$0")/lib.sh"
first=$SATIN_BIN/../tests/e2e/first
file=$work/first.satin

try "$first" --workers 3 6 4 200
is "alone: the answer" "$answer" "first right"
try "$satin" run -n 4 -- "$first" 6 4 200
is "on four nodes: the answer" "$answer" "first right"
try "$satin" run -n 3 --tcp -- "$first" 4 4 200
is "over TCP too" "$answer" "first right"

begin "$satin" run -n 4 --name first-k --checkpoint "$work/k.satin" --interval 0.1 -- "$first" 24 5 400
ok "four nodes are up" wait_for $((20 * slow)) up first-k 4
for victim in other_of master_of other_of; do
  sleep "0.$((RANDOM % 3))"
  kill -9 "$($victim first-k)" 2>/dev/null
done
ended
is "while nodes are killed: the answer" "$answer" "first right"

begin "$satin" run -n 4 --name first-a --checkpoint "$file" --interval 0.1 -- "$first" 16 5 400
ok "rows appear in the file" wait_for $((20 * slow)) has_rows "$file" 2
# shellcheck disable=SC2046
kill -9 $(our_nodes) 2>/dev/null
ended
ok "the checkpoint is sound" integrity "$file"
try "$satin" resume "$file" -n 2
is "resumed on two nodes: the answer" "$answer" "first right"
ok "… and saved results of aborted jobs cause no warning about the second law" [ "$(grep -c 'of no use' <<<"$words")" -eq 0 ]
finish

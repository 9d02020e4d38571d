#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Lists, texts, loops and polls in functions: alone, on nodes of which one is killed, resumed; and how the checkpoint shows
# them.
. "$SATIN_SOURCE/tests/e2e/lib.sh"

lists=$SATIN_BIN/../tests/e2e/lists
wanted='1009 numbers, ä: sorted, 1009 in all, sum 508536, found 1009'
has_results () { [ "$(sqlite3 "$1" 'SELECT count(*) FROM result' 2>/dev/null || echo 0)" -gt 3 ]; }

try "$lists" 1009 0
is "alone" "$code:$answer" "0:$wanted"
try "$lists" --workers 1 0 0
is "alone, with empty lists" "$code:$answer" "0:0 numbers, ä: sorted, 0 in all, sum 0, found 0"
try "$satin" run -n 3 --workers 2 -- "$lists" 1009 1
is "on three nodes" "$code:$answer" "0:$wanted"

begin env LISTS_GO="$work/go" "$satin" run -n 3 --workers 2 --checkpoint "$work/c.db" --interval 0.2 -- "$lists" 1009 100
ok "results are saved" wait_for $((60 * slow)) has_results "$work/c.db"
kill -9 "$(our_nodes | head -n 1)"
touch "$work/go"
ended
is "… a node is killed: the answer is the same" "$code:$answer" "0:$wanted"

rm -f "$work/go"
begin env LISTS_GO="$work/go" "$lists" --workers 4 --checkpoint "$work/a.db" --interval 0.2 1009 100
ok "alone, results are saved" wait_for $((60 * slow)) has_results "$work/a.db"
kill -9 "$begun"
ended
ok "the checkpoint shows a list's items" grep -q '"value": *"\[[0-9]*, *[0-9]' <<<"$("$satin" inspect "$work/a.db" --json 2>/dev/null)"
touch "$work/go"
try env LISTS_GO="$work/go" "$lists" --workers 4 --checkpoint "$work/a.db" 1009 100
is "… killed and resumed: the answer is the same" "$code:$answer" "0:$wanted"
finish

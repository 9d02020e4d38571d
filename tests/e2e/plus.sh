#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The words of satin.hpp, by plus.cc: alone, on nodes of which one is killed, resumed; failures; and how the checkpoint shows
# C++ values.
. "$SATIN_SOURCE/tests/e2e/lib.sh"

plus=$SATIN_BIN/../tests/e2e/plus
wanted='6765 144 1755 200 91533475 332834500 28225 33 (40,4) text, 20'
has_results () { [ "$(rows "$1")" -gt 4 ]; } # 8 to 11 rows are there for some seconds

try "$plus" --workers 1 20 0
is "one worker" "$code:$answer" "0:$wanted"
try "$plus" --workers 4 20 0
is "four workers" "$code:$answer" "0:$wanted"
begin env PLUS_GO="$work/go" "$satin" run -n 3 --workers 2 --checkpoint "$work/c.db" --interval 0.2 -- "$plus" 20 1000
ok "three nodes: results are saved" wait_for $((60 * slow)) has_results "$work/c.db"
kill -9 "$(our_nodes | head -n 1)"
touch "$work/go"
ended
is "… a node is killed: the answer is the same" "$code:$answer" "0:$wanted"

rm -f "$work/go"
# The order in which jobs finish is random; these two are short.
names_jobs () { [ "$(sqlite3 "$1" "SELECT count(DISTINCT job) FROM readable WHERE job IN ('fib', 'improves')" 2>/dev/null)" = 2 ]; }
begin env PLUS_GO="$work/go" "$plus" --workers 4 --checkpoint "$work/a.db" --interval 0.2 20 4000
ok "alone, results are saved" wait_for $((60 * slow)) has_results "$work/a.db"
ok "the checkpoint names jobs by their functions" wait_for $((30 * slow)) names_jobs "$work/a.db"
kill -9 "$begun"
ended
touch "$work/go"
try env PLUS_GO="$work/go" "$plus" --workers 4 --checkpoint "$work/a.db" 20 4000
is "… killed and resumed: the answer is the same" "$code:$answer" "0:$wanted"

try "$plus" --workers 2 stops
is "an aborted map ends at its next index" "$code:$answer" "0:1"

ulimit -c 0
try "$plus" fail
is "a job fails: exit code" "$code:$answer" "6:"
is "… the message names it" "$words" "satin: a job failed: the job at /, fails (1): itself, 1 of three"
try "$plus" here
is "… in a function that it calls" "$code:$words" "6:satin: a job failed: the job at /, fails (2): inside, 2 of three"
try "$plus" throw
is "an exception does not reach the parent: exit code" "$code" 6
ok "… it is named" grep -q "the job at /0, throws (3): it threw std::runtime_error: thrown 3" <<<"$words"
finish

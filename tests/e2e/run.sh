#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A run of several nodes on one machine prints one answer, once.
. "$(dirname "$0")/lib.sh"

try "$satin" run -n 4 -- "$SATIN_BIN/fib" 27
is "four nodes compute fib" "$answer" 196418
is "a run that is done exits with 0" "$code" 0
is "there are no messages" "$words" ""
ok "the folder of the run is removed" [ -z "$(ls "$runs" 2>/dev/null)" ]
ok "no process is left" wait_for $((5 * slow)) no_nodes

try "$satin" run -n 4 --tcp --stats "$work/stats" -- "$SATIN_BIN/nqueens" 11
is "four nodes count queens over TCP" "$answer" 2680
for key in wall_s nodes workers jobs jobs_reused steals_local steals_remote saves saved_rows \
  checkpoint_bytes crashes work_s cpu_s driver_s scribe_s scan_s lost_s redone_s salvaged_s; do
  grep -q "\"$key\": *\(null\|[0-9]\)" "$work/stats" || echo "# no $key in the figures"
done >"$work/missing"
cat "$work/missing"
ok "the figures have every key" [ ! -s "$work/missing" ]
ok "the figures show four nodes" grep -q '"nodes": *4[,}]' "$work/stats"

try "$satin" run -n 1 -w 1 -- "$SATIN_BIN/fib" 20
is "one node with one worker computes fib" "$answer" 6765
try "$satin" run -n 3 -w 2 --name three -- "$SATIN_BIN/fib" 0
is "a run with one tiny job ends" "$answer" 0
# A closed stream stays useless: no file that the launcher opens gets its number, such as an eventfd, which takes eight bytes.
try bash -c '"$1" run -n 1 -- "$2" 35 >&-' - "$satin" "$SATIN_BIN/fib"
is "an answer of eight bytes has nowhere to go: exit code" "$code" 1
is "… and a message" "$words" "satin: cannot write the answer to standard output: Bad file descriptor"

tour=$(instance gr17.tsp)
if [ -n "$tour" ]; then
  try "$satin" run -n 4 -- "$SATIN_BIN/tsp" "$tour"
  is "four nodes find the shortest tour" "$(sed -n 's/^length //p' <<<"$answer")" 2085
  is "the tour is two lines" "$(wc -l <<<"$answer")" 2
else
  skip "four nodes find the shortest tour" "no gr17.tsp"
  skip "the tour is two lines" "no gr17.tsp"
fi

choose_heavy
begin "$satin" run -n 4 --live --name busy -- "${heavy[@]}"
ok "four nodes are up" wait_for $((10 * slow)) up busy 4
ok "the live line counts them" wait_for $((10 * slow)) grep -q '^satin: .* 4 nodes' "$work/begun.words"
setting () { tr '\0' '\n' <"/proc/$(nodes_of "$1" | awk 'NR == 1 { print $1 }')/environ" | grep "^$2="; }
is "the nodes' malloc caches little freed memory" "$(setting busy GLIBC_TUNABLES)" \
  "GLIBC_TUNABLES=${GLIBC_TUNABLES-glibc.malloc.tcache_max=256}"
is "one of them is master" "$(nodes_of busy | grep -c '"master"')" 1
try "$satin" status --json
ok "all runs are listed" grep -q '"name": *"busy"' <<<"$answer"
try "$satin" run --name busy -- "$SATIN_BIN/fib" 3
is "a name belongs to one run at a time" "$code" 1
finished
is "the busy run has the answer" "$answer" "$heavy_answer"

# The run does not depend on the launcher: it goes on without one and keeps its answer.
begin env G_SLICE=all "$satin" run -n 3 --name alone -- "${heavy[@]}"
ok "three nodes are up" wait_for $((10 * slow)) up alone 3
is "a variable that the user has set is kept" "$(setting alone G_SLICE)" G_SLICE=all
kill -9 "$begun"
wait "$begun" 2>/dev/null
let_go
ok "the run ends without its launcher" wait_for $((60 * slow)) test -e "$runs/alone/end"
is "its answer is kept" "$(cat "$runs/alone/answer" 2>/dev/null)" "$heavy_answer"
is "its exit code is kept" "$(head -n 1 "$runs/alone/end" 2>/dev/null)" 0
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A run gets its checkpoint while it goes on: `satin save --to`. From then on it behaves as if it had been started with it.
. "$(dirname "$0")/lib.sh"
export NAPS_HASTE=$work/haste
naps=("$SATIN_BIN/../tests/e2e/naps" 100 12) naps_answer=4096
hasten () { touch "$NAPS_HASTE"; }
joined_with () { grep -qs "checkpoint at '$1' from now on" "$runs"/*/node-"$2".log; }

file=$work/later.db
begin "$satin" run -n 3 -w 1 --name later -- "${naps[@]}"
ok "a run without a checkpoint" wait_for $((10 * slow)) up later 3
try "$satin" save later
is "satin save without a checkpoint: exit code" "$code" 1
try "$satin" save later --to "$work/nowhere/x.db"
is "--to a place that cannot be written" "$code" 4
"$SATIN_BIN/fib" 5 --checkpoint "$work/other.db" >"$work/nothing"
try "$satin" save later --to "$work/other.db"
is "--to an existing checkpoint" "$code" 4
try "$satin" save later --to "$file"
is "--to a new file" "$code" 0
ok "… is published" grep -q "is saved in $file (generation " <<<"$words"
ok "… and sound" integrity "$file"
ok "status names it" grep -q "checkpoint $file" <<<"$("$satin" status later)"
ok "as JSON, too" grep -q "\"checkpoint\": *\"$file\"" <<<"$("$satin" status later --json)"
try "$satin" save "$file" --to "$file"
is "the same place again changes nothing" "$code" 0
try "$satin" save later --to "$work/second.db"
is "another place is refused" "$code" 1
ok "further results are published without a command" wait_for $((20 * slow)) has_rows "$file" 5
try "$satin" add later -n 1 -w 1
ok "a node that is added takes part" wait_for $((10 * slow)) up later 4
# The coordinator is killed: another one goes on saving.
coordinator=$(nodes_of later | awk '/"coordinator"/ { print $1; exit }')
kill -9 "$coordinator"
before=$(rows "$file")
ok "it is saved after the death of the coordinator" wait_for $((40 * slow)) has_rows "$file" $((before + 5))
try "$satin" suspend later
is "it can be suspended" "$code" 0
ok "… and the message says how to resume" grep -q "satin resume $file" <<<"$words"
ended
is "… the run's exit code" "$code" 75
ok "… and the launcher names the file" grep -q "satin resume $file" <<<"$words"
hasten
try "$satin" resume "$file" -n 2 --stats "$work/stats"
is "the resumed run gives the answer" "$code:$answer" "0:$naps_answer"
ok "… with saved results" grep -q '"jobs_reused": *[1-9]' "$work/stats"
rm "$NAPS_HASTE"

# Everything is killed.
file=$work/killed.db
begin "$satin" run -n 2 -w 1 --name killed -- "${naps[@]}"
ok "another run" wait_for $((10 * slow)) up killed 2
try "$satin" save killed --to "$file"
is "it gets a checkpoint" "$code" 0
ok "results are saved" wait_for $((20 * slow)) has_rows "$file" 5
kill -9 "$begun" $(our_nodes)
wait "$begun" 2>/dev/null
wait_for 10 no_nodes
hasten
try "$satin" resume "$file"
is "it is resumed" "$code:$answer" "0:$naps_answer"
rm "$NAPS_HASTE"

# Ctrl-C.
file=$work/ctrl.db
begin "$satin" run -n 2 -w 1 --name ctrl -- "${naps[@]}"
ok "a third run" wait_for $((10 * slow)) up ctrl 2
try "$satin" save ctrl --to "$file"
kill -INT "$begun"
ended
is "Ctrl-C suspends it" "$code" 75
ok "… and no message says that nothing is kept" eval '! grep -q "nothing is kept" <<<"$words"'

begin "$satin" run -n 2 -w 1 --name naive --protect naive -- "${naps[@]}"
ok "a run that keeps nothing" wait_for $((10 * slow)) up naive 2
try "$satin" save naive --to "$work/naive.db"
is "it gets no checkpoint" "$code" 1
ok "… since its plan keeps none" grep -q "protect naive" <<<"$words"
try "$satin" cancel naive
ended
finish

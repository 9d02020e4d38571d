#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# All nodes are killed; the run is resumed from the checkpoint.
. "$(dirname "$0")/lib.sh"
choose_heavy
file=$work/total.satin

begin "$satin" run -n 4 --name doomed --checkpoint "$file" --interval 0.3 -- "${heavy[@]}"
ok "rows appear in the file" wait_for $((20 * slow)) has_rows "$file" 3
ok "sqlite3 finds the file sound while the run goes on" integrity "$file"
try "$satin" run -n 2 --checkpoint "$file" -- "${heavy[@]}"
is "a second run on a live run's file is refused" "$code" 5
ok "with one message" one_line
try "$satin" resume "$file"
is "a resume is refused, too" "$code" 5
for i in 1 2 3 4 5; do integrity "$file" || echo broken; sleep 0.1; done >"$work/broken"
ok "sqlite3 finds it sound again and again" [ ! -s "$work/broken" ]
# shellcheck disable=SC2046
kill -9 $(our_nodes)
ended
is "the launcher of a run that died exits with 1" "$code" 1
is "there is no answer" "$answer" ""
ok "the message says how to resume" grep -q "satin resume" <<<"$words"
ok "the checkpoint is sound" integrity "$file"
saved=$(rows "$file")
ok "results are in it" [ "$saved" -ge 1 ]
try "$satin" inspect "$file"
ok "inspect shows an unfinished run" grep -q unfinished <<<"$answer"

try_freed "$satin" resume "$file" -n 2 --stats "$work/stats"
is "resume on two nodes gives the answer" "$answer" "$heavy_answer"
is "and exits with 0" "$code" 0
ok "saved results were used again" grep -q '"jobs_reused": *[1-9]' "$work/stats"
is "the root's result is in the file" "$(sqlite3 "$file" "SELECT value FROM result WHERE path = ''")" "$heavy_answer"
try_freed "$satin" run -n 4 --checkpoint "$file" -- "${heavy[@]}"
is "the finished file gives its answer again" "$answer" "$heavy_answer"
try_freed "$satin" resume "$file"
is "… to resume, too" "$answer" "$heavy_answer"
finish

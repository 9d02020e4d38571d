#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program alone: all cores, no launcher, and optionally a checkpoint.
. "$(dirname "$0")/lib.sh"

try "$SATIN_BIN/fib" 25
is "a program alone computes" "$answer" 75025
is "and exits with 0" "$code" 0
ok "without a checkpoint it leaves no folder" [ -z "$(ls "$runs" 2>/dev/null)" ]
try "$SATIN_BIN/nqueens" 10 --workers 2 --stats "$work/stats"
is "Satin's options may be anywhere in the command line" "$answer" 724
ln -s /proc/self/fd/2 "$work/device"
try "$SATIN_BIN/nqueens" 10 --workers 2 --stats "$work/device"
ok "--stats may name a device" grep -q '"workers": *2[,}]' <<<"$words"
try "$satin" run --stats "$work/device" -- "$SATIN_BIN/nqueens" 10
ok "--stats of a run, too" grep -q '"nodes": *1[,}]' <<<"$words"
ok "the device is not replaced" [ -L "$work/device" ]
try "$SATIN_BIN/nqueens" 10 --workers 2 --stats "$work/stats"
ok "the figures have the workers" grep -q '"workers": *2[,}]' "$work/stats"
try "$SATIN_BIN/fib" 20 --workers 0
is "0 workers is wrong usage" "$code" 2

choose_heavy
file=$work/solo.satin
begin "${heavy[@]}" --checkpoint "$file" --interval 0.3
# In the published Satin a run of one node had no coordinator and saved nothing (S5).
ok "S5: rows appear in the file" wait_for $((20 * slow)) has_rows "$file" 2
kill -9 "$begun"
ended
ok "the killed program left a sound file" integrity "$file"
try_freed "${heavy[@]}" --checkpoint "$file" --interval 0.3
is "the same command resumes it" "$answer" "$heavy_answer"

file=$work/term.satin
begin "${heavy[@]}" --checkpoint "$file" --interval 0.3
ok "rows appear in the second file" wait_for $((20 * slow)) has_rows "$file" 2
kill -TERM "$begun"
ended
is "SIGTERM suspends" "$code" 75
is "a suspended program has no answer yet" "$answer" ""
try_freed "$satin" resume "$file" -n 2
is "satin resume takes a solo program's file" "$answer" "$heavy_answer"
try_freed "${heavy[@]}" --checkpoint "$file"
is "a finished file gives its answer again" "$answer" "$heavy_answer"

# The loss of its terminal suspends the program, but not under nohup. This test itself may run under nohup.
file=$work/hangup.satin before=$(ls "$runs")
begin env --default-signal=HUP "${heavy[@]}" --checkpoint "$file" --interval 0.3
ok "rows appear in the third file" wait_for $((20 * slow)) has_rows "$file" 2
kill -HUP "$begun"
ended
is "a hang-up suspends" "$code" 75
is "… and leaves no folder" "$(ls "$runs")" "$before"
begin nohup "${heavy[@]}" --checkpoint "$file" --interval 0.3
ok "under nohup it runs" wait_for $((20 * slow)) eval '"$satin" status "$file" >/dev/null 2>&1'
kill -HUP "$begun"
finished
is "with nohup it has an answer" "$code:$answer" "0:$heavy_answer"

# The output of main is the answer, whatever code main returns. Only a suspended or cancelled run has none.
for code_wanted in 1 4 6 7 75; do
  try "$SATIN_BIN/../tests/e2e/naps" 1 3 $code_wanted --checkpoint "$work/code-$code_wanted.satin"
  is "a main that returns $code_wanted has an answer" "$answer" 8
  is "… and that code" "$code" $code_wanted
  is "… and there is no message of a cancelled or failed run" "$words" ""
  try "$satin" run -n 2 --checkpoint "$work/codes-$code_wanted.satin" -- "$SATIN_BIN/../tests/e2e/naps" 1 3 $code_wanted
  is "… also on two nodes" "$answer $code" "8 $code_wanted"
  ok "… of which none was cancelled" [ "$(grep -c cancelled <<<"$words")" = 0 ]
done

# A program that cannot print its answer ends with an error.
try bash -c '"$1" 10 >/dev/full' - "$SATIN_BIN/fib"
is "the answer cannot be written: exit code" "$code" 1
is "… and one message" "$words" "satin: cannot write the answer: No space left on device"
try bash -c '"$1" 10 >&-' - "$SATIN_BIN/fib"
is "standard output is closed: exit code" "$code" 1
try bash -c '"$1" 10 --checkpoint "$2" >&-' - "$SATIN_BIN/fib" "$work/closed.satin"
is "… with a checkpoint" "$code" 1
try bash -c '"$1" 10 --checkpoint "$2" >&-' - "$SATIN_BIN/fib" "$work/closed.satin"
is "… that already has the answer" "$code" 1
try "$SATIN_BIN/fib" 10 --checkpoint "$work/closed.satin"
is "… the answer is not lost" "$answer $code" "55 0"
finish

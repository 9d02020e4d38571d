#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Very deep, very wide and very large trees: the answer is right, also killed and resumed. At a limit there is one clear message
# and exit code 6.
. "$(dirname "$0")/lib.sh"
shapes=$SATIN_BIN/../tests/e2e/shapes
file=$work/shapes.satin

# With sanitizers stacks are small and programs slow.
deep=100000 wide=1000000
tooth=2500 child=2000
[ $slow -gt 1 ] && deep=2000 wide=20000 tooth=125000 child=200000

right () # NAME SHAPE COMMAND…
{
  local name=$1 shape=$2
  shift 2
  try "$@"
  is "$name" "${answer##* nodes }" "$shape right"
}

# limit WORDS: TRUE if the last command ended with exit code 6 and one message, the first line, which contains WORDS. A
# backtrace of bounded length may follow.
limit () { [ "$code" -eq 6 ] && [ "$(grep -n "^satin: " <<<"$words")" = "1:$(grep "^satin: .*$1" <<<"$words")" ] && [ "$(wc -l <<<"$words")" -le 70 ]; }

for workers in 1 2 8; do
  right "a comb on $workers workers" comb "$shapes" --workers $workers comb $deep 50
  right "a comb that is saved all the time" comb "$shapes" --workers $workers --checkpoint "$work/c$workers" --interval 0.1 comb $deep 300
  right "a wide job on $workers workers" wide "$shapes" --workers $workers wide $wide 20
done
right "a comb whose spine is stolen" spine "$shapes" --workers 4 spine $deep 50
right "a wide job with large arguments" blocks "$shapes" --workers 2 blocks $((wide / 5)) 20
right "a wide job with bytes" texts "$shapes" --workers 2 texts $((wide / 5)) 20
right "results of many MiB come over the network" large \
  "$satin" run -n 2 -w 1 --tcp --stats "$work/large" -- "$shapes" large $((slow > 1 ? 16 : 64)) 40000000
ok "one of them was stolen" grep -q '"steals_remote": [1-9]' "$work/large"
right "a comb on three nodes" comb "$satin" run -n 3 -w 1 -- "$shapes" comb $((deep / 5)) 2000
right "a wide job on three nodes" wide "$satin" run -n 3 -w 1 -- "$shapes" wide $((wide / 10)) 200

for shape in "comb $deep $tooth" "wide $((wide / 8)) $child"; do
  rm -f "$file"
  # shellcheck disable=SC2086
  begin "$shapes" --workers 2 --checkpoint "$file" --interval 0.1 $shape
  ok "rows of ${shape%% *} are saved" wait_for $((20 * slow)) has_rows "$file" 10
  kill -9 "$begun" 2>/dev/null
  ended
  ok "the file is sound" integrity "$file"
  # shellcheck disable=SC2086
  right "and a run resumes it" "${shape%% *}" "$shapes" --workers 2 --checkpoint "$file" --interval 0.1 $shape
done

if [ $slow -gt 1 ]; then
  skip "limits" "the sanitizers have stacks and handlers of their own"
  finish
fi
try "$shapes" --workers 2 --stack 1M comb 100000 1
ok "a full C stack is reported" limit "the C stack of a job is full"
right "a larger C stack is enough" comb "$shapes" --workers 2 --stack 64M comb 100000 1
if is_long; then # this test fills gigabytes
  try "$shapes" --workers 1 comb 20000000 0
  ok "a full job stack is reported, or a full C stack before it" limit "stack of a job is full\|a job stack is full"
fi
try bash -c "ulimit -v 400000; exec $shapes --workers 1 wide 1000000 1"
ok "a job stack that a single job has filled is reported" limit "a job stack is full: .* a job has too many children"
try "$shapes" main 0
ok "main's full stack is reported" limit "the C stack of main is full"
try bash -c "ulimit -v 4000000; exec $shapes --workers 1 comb 20000 1"
is "little address space is enough for a small tree" "$answer" "comb right"
try bash -c "ulimit -v 1500000; exec $shapes --workers 2 blocks 1000000 1"
ok "too little address space is an error" [ "$code" -eq 6 -o "$code" -eq 1 ]
ok "… with one message" [ "$(grep -c '^satin: ' <<<"$words")" -eq 1 ]
try bash -c "ulimit -v 1500000; exec $shapes --workers 2 --stack 4G comb 3 1"
is "a stack size that was asked for is not reduced" "$code" 1
ok "but the run is refused" grep -q '^satin: no memory or threads' <<<"$words"
try "$shapes" --stack 5 comb 3 1
is "a stack that is too small is refused" "$code" 2
try "$shapes" --stack 12x comb 3 1
is "a stack size that is no number is refused" "$code" 2
finish

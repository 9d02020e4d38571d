#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# --new: the file at the checkpoint's place is set aside unchanged, under a name with the time; it is never removed.
. "$(dirname "$0")/lib.sh"
file=$work/c.satin
aside () { find "$work" -name "${1:-c.satin}.old-2*" | sort; } # FILE: the names of its copies that were set aside
said () { sed -n "s/^satin: the old checkpoint is now '\(.*\)'\$/\1/p" <<<"$words"; }

try "$SATIN_BIN/nqueens" 8 --checkpoint "$file" --new
is "without an old checkpoint --new has no effect" "$answer" 92
is "and prints no message" "$words" ""
cp "$file" "$work/first"
try "$SATIN_BIN/nqueens" 9 --checkpoint "$file"
is "without --new another program's checkpoint is refused" "$code" 3
try "$SATIN_BIN/nqueens" 9 --checkpoint "$file" --new
is "with --new the run begins" "$answer" 352
is "it says where the old checkpoint is" "$(wc -l <<<"$words") $(said)" "1 $(aside)"
ok "which is unchanged" cmp -s "$(said)" "$work/first"
try "$satin" resume "$work/first"
is "and can be resumed" "$answer" 92
try "$SATIN_BIN/nqueens" 9 --checkpoint "$file"
is "without --new the same program's checkpoint is taken over" "$answer" 352

for i in 1 2 3; do
  try "$satin" run -n 2 --new --checkpoint "$file" -- "$SATIN_BIN/nqueens" $((9 + i))
  is "satin run --new begins as well" "$answer" "${queens[$((9 + i))]}"
  ok "and says where the old checkpoint is" [ -f "$(said)" ]
done
is "nothing was removed" "$(aside | wc -l)" 4
echo '[site a b]' >"$work/sites"
try "$satin" run --new --sites "$work/sites" --checkpoint "$file" -- "$SATIN_BIN/nqueens" 8
is "a refused run sets nothing aside" "$code:$(aside | wc -l)" 2:4

echo "Dear diary" >"$work/text"
sqlite3 "$work/foreign" 'CREATE TABLE a (b)'
for other in text foreign; do
  cp "$work/$other" "$work/before"
  try "$satin" run --new --checkpoint "$work/$other" -- "$SATIN_BIN/nqueens" 8
  is "a file that is no checkpoint is refused: $other" "$code" 3
  ok "… untouched" cmp -s "$work/$other" "$work/before"
  is "… and stays where it is" "$(aside "$other")" ""
done
head -c 5000 "$work/first" >"$work/cut"
cp "$work/cut" "$work/before"
try "$satin" run --new --checkpoint "$work/cut" -- "$SATIN_BIN/nqueens" 8
is "a damaged checkpoint is set aside" "$answer" 92
ok "… unchanged" cmp -s "$(aside cut)" "$work/before"

choose_heavy
begin "$satin" run -n 2 --checkpoint "$work/busy" --interval 0.2 -- "${heavy[@]}"
ok "a run is at work" wait_for $((20 * slow)) has_rows "$work/busy"
try "$satin" run --new --checkpoint "$work/busy" -- "$SATIN_BIN/nqueens" 8
is "a checkpoint in use is not set aside" "$code" 5
try "$SATIN_BIN/nqueens" 8 --new --checkpoint "$work/busy"
is "nor by a program alone" "$code" 5
is "it stays where it is" "$(aside busy)" ""
try "$satin" resume "$work/busy" --checkpoint "$work/copy" -- "${heavy[@]}"
is "nor can it be resumed at another place" "$code:$(ls "$work/copy" 2>/dev/null)" "5:"
ok "… and the message names it" grep -q "checkpoint '$work/busy' is in use by run" <<<"$words"
finished
is "and its run goes on" "$answer" "$heavy_answer"

try "$satin" run --new -- "$SATIN_BIN/nqueens" 8
is "--new without a checkpoint" "$code" 2
try "$SATIN_BIN/nqueens" 8 --new
is "--new without a checkpoint, a program alone" "$code" 2
try "$satin" run -n 2 --checkpoint "$file" -- "$SATIN_BIN/nqueens" 8 --new
is "--new after the program is refused" "$code" 2
try "$satin" resume "$file" --new
is "resume refuses --new" "$code" 2
is "… and its help does not list it" "$("$satin" resume --help | grep -cE -e "--new")" 0
finish

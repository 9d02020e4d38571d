#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs with several roots, one after the other: finished roots are rows, and a main that runs again gets their results at
# once.
. "$(dirname "$0")/lib.sh"
program=$SATIN_BIN/../tests/e2e/roots
file=$work/roots.satin

# Each run has its own folder. For the files in it see roots.c.
fresh () { folder=$work/$1; mkdir "$folder"; }
mains () { cat "$folder/between.$1" 2>/dev/null; }
# The number of leaves of root $1 that ran; one that ran twice counts twice.
ran () { cat "$folder/ran.$1" 2>/dev/null | wc -c; }
has_run () { [ "$(ran "$1")" -ge "$2" ]; }
is_at () { [ -n "$(mains "$1")" ]; }                                     # main is about to ask for this root
is_at_elsewhere () { is_at "$1" && [ "$(mains "$1")" != "$2" ]; }
sql () { sqlite3 "file:$file?mode=rw" "$1"; }
paths () { sql 'SELECT group_concat (path) FROM (SELECT path FROM result ORDER BY path)'; }
says () { "$satin" status "$1" 2>/dev/null | grep -q "$2"; }

fresh plain
try "$program" 4 "$folder"
wanted=$answer
is "four roots" "$code" 0
ok "there is an answer" [ -n "$wanted" ]
is "each leaf ran once" "$(ran 0) $(ran 1) $(ran 2) $(ran 3)" "16 16 16 16"

fresh saved
try "$program" 4 "$folder" --checkpoint "$file"
is "with a checkpoint" "$answer" "$wanted"
is "finished roots are rows" "$(paths)" ",1:,2:,3:"
is "progress is that of the last root" "$(sql 'SELECT done, state FROM progress')" "1.0|finished"
is "nothing is missing" "$(sql 'SELECT count (*) FROM missing')" 0
try "$satin" inspect --verify "$file"
is "the file is sound" "$code" 0
try "$satin" inspect --tree "$file"
ok "its trees have all roots" grep -q '^3: .*sum = ' <<<"$answer"
try "$program" 4 "$folder" --checkpoint "$file"
is "the saved answer is shown" "$answer" "$wanted"
is "and no leaf ran again" "$(ran 0) $(ran 3)" "16 16"
rm "$file"

# The master is killed while main is between two roots; the next master is killed during a root.
fresh killed
: >"$folder/stay.2"
: >"$folder/hold.2"
begin "$satin" run -n 3 -w 1 --name killed --checkpoint "$file" --interval 60 -- "$program" 4 "$folder"
ok "main is between two roots" wait_for $((20 * slow)) is_at 2
ok "the status says which root was the last" wait_for $((10 * slow)) says killed 'killed  root 1 '
try "$satin" save killed
is "the finished roots are saved" "$code:$(paths)" "0:,1:"
first=$(mains 2)
kill -9 "$first"
ok "the next master's main gets there" wait_for $((20 * slow)) is_at_elsewhere 2 "$first"
is "without running a leaf again" "$(ran 0) $(ran 1) $(ran 2)" "16 16 0"
rm "$folder/stay.2"
ok "the third root is under way" wait_for $((20 * slow)) has_run 2 16
second=$(mains 2)
try "$satin" save killed
ok "a part of the third root is saved" [ "$(sql "SELECT count (*) FROM result WHERE path > '2:/'")" -gt 0 ]
ok "… progress is that of the third root" [ "$(sql "SELECT done > 0 AND done < 0.99 FROM progress")" = 1 ]
is "… and only the third root has missing jobs" "$(sql "SELECT count (*) FROM missing WHERE path NOT LIKE '2:/%'")" 0
kill -9 "$second"
ok "the last node's main gets there, too" wait_for $((20 * slow)) is_at_elsewhere 2 "$second"
rm "$folder/hold.2"
ended
is "the answer is right" "$code:$answer" "0:$wanted"
is "finished roots were not run again" "$(ran 0) $(ran 1)" "16 16"
rm "$file"

# Without a checkpoint the results are in the memory of another node.
fresh unsaved
: >"$folder/stay.3"
begin "$satin" run -n 3 -w 1 --name unsaved -- "$program" 4 "$folder"
ok "main is between two roots" wait_for $((20 * slow)) is_at 3
first=$(mains 3)
rest_us $((300000 * slow)) # rows are sent as soon as there are any
kill -9 "$first"
ok "the next master's main gets there" wait_for $((20 * slow)) is_at_elsewhere 3 "$first"
is "without running a leaf again" "$(ran 0) $(ran 1) $(ran 2)" "16 16 16"
rm "$folder/stay.3"
ended
is "the answer is right" "$code:$answer" "0:$wanted"

# The run is suspended between two roots and resumed on another node.
fresh stopped
: >"$folder/stay.2"
begin "$satin" run -n 2 -w 1 --name stopped --checkpoint "$file" --interval 60 -- "$program" 4 "$folder"
ok "main is between two roots" wait_for $((20 * slow)) is_at 2
try "$satin" suspend stopped
is "it can be suspended there" "$code" 0
ended
is "… with 75" "$code" 75
is "the finished roots are saved, suspended" "$(paths) $(sql 'SELECT state FROM progress')" ",1: not finished"
rm "$folder/stay.2"
cd "$folder" || exit 1
try "$satin" resume "$file" -n 1
is "another node resumes it" "$code:$answer" "0:$wanted"
is "… and runs only what was missing" "$(ran 0) $(ran 1) $(ran 2) $(ran 3)" "16 16 16 16"
rm "$file"

# Alone: SIGTERM and SIGKILL.
for how in TERM KILL; do
  fresh "alone-$how"
  : >"$folder/stay.2"
  begin "$program" 4 "$folder" --checkpoint "$file" --interval 0.1
  ok "alone: main is between two roots" wait_for $((20 * slow)) is_at 2
  ok "finished roots are published without a command" wait_for $((20 * slow)) eval '[ "$(paths)" = ",1:" ]'
  kill -"$how" "$begun"
  [ $how = KILL ] || ok "it is being suspended" wait_for $((20 * slow)) grep -q suspending "$work/begun.words"
  rm "$folder/stay.2"
  [ $how = KILL ] || ended
  [ $how = KILL ] || is "SIGTERM suspends" "$code" 75
  [ $how = TERM ] || { wait "$begun"; } 2>/dev/null
  try "$program" 4 "$folder" --checkpoint "$file"
  is "the same command resumes it after SIG$how" "$code:$answer" "0:$wanted"
  is "… and runs only what was missing" "$(ran 0) $(ran 1) $(ran 2)" "16 16 16"
  rm "$file"
done

# satin_publish and satin_input must be called before the first root.
for late in publish input; do
  fresh $late
  try "$program" 2 "$folder" $late
  ok "satin_$late is refused after a root" grep -q 'has to be .* before the first satin_root' <<<"$words"
  is "… with 1" "$code" 1
done
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program with its own main, embed.c: satin_open and satin_close. When the program runs alone, Satin leaves the signals,
# streams and children of the process to it. Under `satin run` the process is a node of the run.
. "$(dirname "$0")/lib.sh"
program=$SATIN_BIN/../tests/e2e/embed
file=$work/embed.satin

# Each run has a folder of its own. The files in it: see embed.c.
fresh () { folder=$work/$1; mkdir "$folder"; rm -f "$file"*; }
ran () { cat "$folder/ran.$1" 2>/dev/null | wc -c; }
has_run () { [ "$(ran "$1")" -ge "$2" ]; }
main_of () { cat "$folder/main.$1" 2>/dev/null; }
is_at () { [ -n "$(main_of "$1")" ]; }
is_elsewhere () { is_at "$1" && [ "$(main_of "$1")" != "$2" ]; }
rows () { sqlite3 "file:$file?mode=rw" 'SELECT count (*) FROM result'; }
has_rows () { [ "$(rows 2>/dev/null || echo 0)" -ge "$1" ]; }
# shellcheck disable=SC2016
printf '%s\n' '#!/bin/sh' 'EMBED_ALONE=1 exec "$program" "$folder" "$@"' >"$work/alone"
chmod +x "$work/alone"
export program folder

# ---- alone ----

fresh plain
try "$work/alone" --exit 9
wanted=$answer
is "the host computes and exits with its own code" "$code:$words" "9:"
ok "only its own lines are printed" [ "$(sed 's/[0-9]\{5,\}/N/' <<<"$wanted")" = $'host: N, 14\nhost: done' ]
is "each leaf ran once" "$(ran 0) $(ran 1)" "12 12"
try "$work/alone" --again 2 --base 3
is "it opens a run again" "$code:$(head -n 1 <<<"$answer")" "0:$(head -n 1 <<<"$wanted")"
is "… with other constants, and best values from the start" "$(grep -c -e ', 13' -e ', 12' <<<"$answer")" 2

fresh options
for wrong in "-w none" "--new" "--checkpoint nowhere:x" "--stats /nowhere/x"; do
  # shellcheck disable=SC2086
  try "$work/alone" $wrong
  ok "$wrong is an error of satin_open, and the host goes on" grep -q '^no run: [1-9]' <<<"$answer"
  is "… with its own code, and nothing else is printed" "$code:$words:$(wc -l <<<"$answer")" "40::1"
done
try "$work/alone" --unknown
is "an option unknown to Satin is left to the host" "$code:$answer" "2:usage: Unknown option --unknown"
try "$work/alone" --label it -w 1 --help
ok "--help is left to the host, too" grep -q -e '--label=TEXT' <<<"$answer"

fresh saved
: >"$folder/hold.1"
begin "$work/alone" --checkpoint "$file" --interval 0.1
ok "its second root is under way" wait_for $((20 * slow)) has_run 1 12
ok "finished jobs are saved" wait_for $((20 * slow)) has_rows 12
try "$satin" status "$file"
ok "satin status shows it" grep -q '^embed-' <<<"$answer"
try "$work/alone" --checkpoint "$file"
is "a second host with the same checkpoint is refused" "$code:$(grep -c '^no run: 5: .* in use' <<<"$answer")" "40:1"
kill -9 "$(main_of 1)"
{ wait "$begun"; } 2>/dev/null
rm "$folder/hold.1"
try "$work/alone" --checkpoint "$file"
is "after kill -9 the host continues from the checkpoint" "$code:$(head -n 1 <<<"$answer"):$words" "0:$(head -n 1 <<<"$wanted"):"
is "… and the first root did not run again" "$(ran 0)" 12
before=$(ran 1)
try "$work/alone" --checkpoint "$file"
is "with a finished checkpoint the host has its results at once" "$code:$(head -n 1 <<<"$answer")" "0:$(head -n 1 <<<"$wanted")"
is "… and nothing runs" "$(ran 0) $(ran 1)" "12 $before"
try "$satin" inspect --verify "$file"
is "the file is sound" "$code" 0
cd "$folder" || exit 1
try "$satin" resume "$file" -n 1
is "satin resume shows its answer, too" "$code:$answer" "0:$(sed 's/9$/0/' <<<"$wanted")"
is "… and nothing runs" "$(ran 0) $(ran 1)" "12 $before"
try "$work/alone" --checkpoint "$file"
is "after satin resume the host has its results from the file" "$code:$(head -n 1 <<<"$answer")" "0:$(head -n 1 <<<"$wanted")"
try "$work/alone" --label other --checkpoint "$file"
is "with other arguments it is another run" "$code:$(grep -c '^no run: 3: ' <<<"$answer")" "40:1"

fresh interrupted
: >"$folder/hold.0"
begin "$work/alone" --checkpoint "$file" --exit 6
ok "the first root is under way" wait_for $((20 * slow)) has_run 0 12
kill -INT "$(main_of 0)"
ended
is "its own handler of SIGINT suspends the run, and the host goes on" "$code:$answer:$words" \
  $'6:host: stopped with 75\nhost: closed with 75: the run was suspended\nhost: done:'
rm "$folder/hold.0"
try "$work/alone" --checkpoint "$file" --exit 6
is "the same command continues the run" "$code:$(head -n 1 <<<"$answer")" "6:$(head -n 1 <<<"$wanted")"
ok "… with saved results" [ "$(ran 0)" -lt 24 ]

for how in suspend cancel; do
  fresh $how
  : >"$folder/hold.0"
  begin "$work/alone" --checkpoint "$file"
  ok "a root is under way" wait_for $((20 * slow)) has_run 0 12
  try "$satin" $how "$file"
  is "satin $how works on it" "$code" 0
  ended
  is "… and the host goes on" "$code:$(tail -n 1 <<<"$answer"):$words" "0:host: done:"
  [ $how = cancel ] && want=7 || want=75
  ok "… with the reason" grep -q "^host: closed with $want: the run was ${how}" <<<"$answer"
done

fresh failed
: >"$folder/fail.1"
try "$work/alone" --again 1
is "a job fails: the host goes on" "$code:$(tail -n 1 <<<"$answer"):$words" "0:host: done:"
ok "… and learns which job" grep -q '^host: closed with 6: a job failed: the job at 1:/[0-9]*, leaf .* was told to$' <<<"$answer"
is "… and opens another run" "$(grep -c 'closed with 6' <<<"$answer")" 2

# A broken rule ends the run, not the host. What was saved stays.
fresh unsynced
: >"$folder/unsynced.1"
: >"$folder/stay.1"
begin "$work/alone" --checkpoint "$file" --interval 0.1
ok "the first root is saved" wait_for $((20 * slow)) has_rows 1
rm "$folder/stay.1"
ended
is "a job returns without a sync: the host goes on" "$code:$(tail -n 1 <<<"$answer"):$words" "0:host: done:"
ok "… and learns which job" \
  grep -q '^host: closed with 6: a job failed: the job at 1:, sum .*: it returned without satin_sync after' <<<"$answer"
rm "$folder/unsynced.1"
try "$work/alone" --checkpoint "$file"
is "… and the mended host continues from the saved results" "$code:$(head -n 1 <<<"$answer"):$(ran 0)" "0:$(head -n 1 <<<"$wanted"):12"

fresh unset
: >"$folder/unset.0"
try "$work/alone" --again 1
is "a job reads a constant without a value: the host goes on" "$code:$(tail -n 1 <<<"$answer"):$words" "0:host: done:"
ok "… and learns which job" \
  grep -q "^host: closed with 6: a job failed: the job at /.*: constant 'base' is read before satin_publish" <<<"$answer"
is "… and opens another run" "$(grep -c 'closed with 6' <<<"$answer")" 2

# ---- under satin run ----

fresh nodes
try "$satin" run -n 3 -w 1 -- "$program" "$folder" --exit 9
is "on nodes what the master prints until its exit is the answer, and its code the run's" "$code:$answer" "9:$wanted"
is "one process called main's part" "$(sort -u "$folder"/main.* | wc -l)" 1

fresh killed
: >"$folder/hold.1"
begin "$satin" run -n 4 -w 1 --name embed-killed -- "$program" "$folder" --exit 9
ok "the second root is under way" wait_for $((20 * slow)) has_run 1 12
master=$(main_of 1)
ok "there are four nodes" wait_for $((20 * slow)) eval '[ "$(our_nodes | wc -l)" -ge 4 ]'
mapfile -t workers < <(our_nodes | grep -vx -e "$master" -e "$begun")
kill "${workers[0]}"
ok "a node leaves at SIGTERM" wait_for $((20 * slow)) gone "${workers[0]}"
kill -9 "${workers[1]}"
kill -9 "$master"
ok "the next master opens the run" wait_for $((20 * slow)) is_elsewhere 1 "$master"
rm "$folder/hold.1"
ended
is "the answer is the same" "$code:$answer" "9:$wanted"
is "… and SIGTERM has killed no node" "$(grep -c "^satin: node .* died (signal 15)" <<<"$words")" 0

# A master that is stopped for a while. When it continues, its main waits in satin_root and ends with the run; or it becomes
# master again when all other nodes die.
for others in live die; do
  fresh stopped-$others
  : >"$folder/hold.1"
  begin "$satin" run -n 3 -w 1 --name embed-stopped --heartbeat 0.1 --silence 1 -- "$program" "$folder" --exit 9
  ok "the second root is under way" wait_for $((20 * slow)) has_run 1 12
  master=$(main_of 1)
  kill -STOP "$master"
  ok "another master opens the run" wait_for $((30 * slow)) is_elsewhere 1 "$master"
  kill -CONT "$master"
  ok "the old master is a member again" wait_for $((20 * slow)) eval '[ "$("$satin" status embed-stopped 2>/dev/null | grep -c "^ *[0-9]*\.[0-9]")" -ge 3 ]'
  # shellcheck disable=SC2046
  [ $others = live ] || kill -9 $(our_nodes | grep -vx -e "$master" -e "$begun")
  rm "$folder/hold.1"
  ended
  is "the others $others: the answer is the same" "$code:$answer" "9:$wanted"
done

fresh resumed
: >"$folder/hold.1"
begin "$satin" run -n 2 -w 1 --checkpoint "$file" --interval 0.2 --name embed-resumed -- "$program" "$folder" --exit 9
ok "the second root is under way" wait_for $((20 * slow)) has_run 1 12
ok "it is saved" wait_for $((20 * slow)) has_rows 12
# shellcheck disable=SC2046
kill -9 "$begun" $(our_nodes) 2>/dev/null
{ wait "$begun"; } 2>/dev/null
rm "$folder/hold.1"
try "$satin" resume "$file" -n 2
is "after the death of all the run is resumed" "$code:$answer" "9:$wanted"
is "… and the first root did not run again" "$(ran 0)" 12

fresh suspended
: >"$folder/hold.1"
begin "$satin" run -n 2 -w 1 --checkpoint "$file" --name embed-suspended -- "$program" "$folder"
ok "the second root is under way" wait_for $((20 * slow)) has_run 1 12
try "$satin" suspend embed-suspended
ended
is "on nodes it is suspended like any run" "$code:$answer" "75:"
rm "$folder/hold.1"
try "$work/alone" --checkpoint "$file"
is "the host alone continues the run" "$code:$(head -n 1 <<<"$answer")" "0:$(head -n 1 <<<"$wanted")"
is "… and the first root did not run again" "$(ran 0)" 12

# Nodes on other hosts, whose standard input and output are connected to the launcher. The master is one of them.
fresh far
mkdir "$work/there"
printf '[site there]\nhosts = a b\nworkers = 1\ncommand = %s sh -c\n' "$(bare "$work/there")" >"$work/sites"
try "$satin" run --sites "$work/sites" -- "$program" "$folder" --exit 9
is "on other hosts the answer is the same" "$code:$answer" "9:$wanted"
ok "… and nothing is left on them" [ -z "$(ls "$work/there")" ]

fresh refused
try "$satin" run -n 2 -- "$program" -w none "$folder"
ok "nodes with a wrong command line end the run with an error" [ "$code" -ne 0 ]
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# satin inspect and satin merge on the checkpoints of real runs: killed, suspended, finished, damaged. Their output is compared
# with what sqlite3 finds.
. "$(dirname "$0")/lib.sh"
ask () { sqlite3 "$file" "$1"; }

file=$work/queens.satin
begin "$satin" run -n 3 -w 1 --checkpoint "$file" --interval 0.1 -- "$SATIN_BIN/nqueens" 17
ok "rows appear in the file" wait_for $((30 * slow)) has_rows "$file" 8
# shellcheck disable=SC2046
kill -9 $(our_nodes)
ended
n=$(rows "$file")

try "$satin" inspect "$file"
is "a killed run's checkpoint can be inspected" "$code" 0
ok "the summary counts the results" grep -qx "results   $n saved" <<<"$answer"

try "$satin" inspect "$file" --verify
is "--verify finds every row sound" "$code" 0
is "and all are counted" "$(awk '$1 == "result" { print $2, $3 }' <<<"$answer")" "$n 0"

try "$satin" inspect --tree --depth 1000 "$file"
is "the tree has a line for each result" "$(grep -c ' queens \[[0-9,]*\] = ' <<<"$answer")" "$n"
is "the same results" "$(awk '/ queens \[.*\] = / { print $1 }' <<<"$answer" | sort)" "$(ask 'SELECT path FROM result' | sort)"
ok "with the values" grep -qxE ".* queens \[.*\] = $(ask 'SELECT value FROM readable ORDER BY weight DESC LIMIT 1')" <<<"$answer"
missing=$(ask 'SELECT count (*) FROM missing')
top=$(sed -n 2p <<<"$answer")
ok "it counts what is missing" grep -q "$n saved below, $missing missing" <<<"$top"
try "$satin" inspect "$file" --tree --depth 0
is "a tree of no depth is the root" "$(wc -l <<<"$answer")" 2

saved=$(ask 'SELECT path FROM result ORDER BY length (path) DESC LIMIT 1')
try "$satin" inspect "$file" --why "$saved"
ok "why: a saved job" grep -qF "$saved is saved" <<<"$answer"
ok "why: the node that computed it" grep -qF "node      $(ask "SELECT node FROM readable WHERE path = '$saved'") on " <<<"$answer"
ok "why: its cost" grep -qF "cost      $(ask "SELECT printf ('%.3f', work_s) FROM result WHERE path = '$saved'") s" <<<"$answer"
args=$(ask "SELECT args FROM result WHERE path = '$saved'")
ok "why: its arguments" grep -qxF "args      $args" <<<"$answer"
is "why: when it began and how long it ran" "$(sed -n 's/^began     20.*, took \([0-9.]*\) s$/\1/p' <<<"$answer")" "$(ask "SELECT printf ('%.3f', took_s) FROM readable WHERE path = '$saved'")"
ok "why: its value" grep -qF "value     $(ask "SELECT value FROM result WHERE path = '$saved'") (type x" <<<"$answer"
is "every result has its arguments and times" "$(ask 'SELECT count (args) || count (began) || count (took_ms) FROM result')" "$n$n$n"
is "… which lie within the run's time" "$(ask "SELECT count (*) FROM result WHERE began < (SELECT value - 1 FROM run WHERE key = 'started') OR began + took_ms / 1000 > saved + 1")" 0
try "$satin" replay "$file" "$saved"
ok "the job runs again with these arguments" grep -qF "runs: queens $(tr '[],' '()_' <<<"$args" | sed 's/_/, /g')" <<<"$words"
try "$satin" inspect "$file" --why "$saved/3/4"
ok "why: a job below a saved one" grep -qF "$saved/3/4 lies below $saved, which is saved" <<<"$answer"
try "$satin" inspect "$file" --why "${saved%/*}/"
is "a path with a slash too many is refused" "$code" 2
try "$satin" inspect "$file" --why /
ok "why: a job above saved ones" grep -qF "/ is not finished; $n results are saved below it" <<<"$answer"
ok "why: what is missing below it" grep -qF "missing   $missing jobs" <<<"$answer"
gap=$(ask 'SELECT path FROM missing LIMIT 1')
try "$satin" inspect "$file" --why "$gap"
ok "why: a gap" grep -qF "$gap is missing: it was spawned" <<<"$answer"
try "$satin" inspect "$file" --why /4000000000/1
ok "why: an unknown job" grep -qF "/4000000000/1 is not known" <<<"$answer"
is "which is no error" "$code" 0
try "$satin" inspect "$file" --tree --from "$saved"
ok "a tree may begin at any job" grep -q "^$saved .* queens \[" <<<"$answer"
try "$satin" inspect "$file" --tree --from /4000000000
ok "a tree from an unknown job says so" grep -qF "/4000000000 is not known" <<<"$answer"
for slip in "--tree --json" "--why" "--depth 1" "--tree --depth -1" "--from /" "$file"; do
  # shellcheck disable=SC2086
  try "$satin" inspect "$file" $slip
  is "wrong usage: $slip" "$code" 2
done

json () { sqlite3 :memory: "SELECT $1 FROM (SELECT readfile ('$work/answer') AS j)"; }
same_as_json () # COLUMNS-OF-RESULT JSON-KEYS
{
  [ "$(ask "SELECT $1 FROM readable JOIN result USING (path) ORDER BY path")" = "$(sqlite3 :memory: "SELECT $2 FROM
    json_each (readfile ('$work/answer'), '\$.results')" | sed 's,^/$,,')" ]
}
try "$satin" inspect "$file" --json
is "the JSON is valid" "$(json 'json_valid (j)')" 1
ok "it has all results" same_as_json "path, readable.node, readable.job, lower (hex (digest)), result.value, result.work_s, saved,
  result.weight, readable.args, result.began, took_ms" \
  "json_extract (value, '\$.path'), json_extract (value, '\$.node'), json_extract (value, '\$.job'),
   json_extract (value, '\$.digest'), json_extract (value, '\$.value'), json_extract (value, '\$.work_s'),
   json_extract (value, '\$.saved'), json_extract (value, '\$.share'), json_extract (value, '\$.args'),
   json_extract (value, '\$.began'),
   CAST (round (json_extract (value, '\$.took_s') * 1000) AS INTEGER)"
is "and all nodes" "$(json "json_array_length (j, '\$.nodes')")" "$(ask 'SELECT count (*) FROM node')"
is "and the id of the run" "$(json "json_extract (j, '\$.run.id')")" "$(ask "SELECT value FROM run WHERE key = 'id'")"

cp "$file" "$work/damaged"
sqlite3 "$work/damaged" "UPDATE result SET value = value + 1 WHERE path = '$saved';
  UPDATE run SET value = 'another' WHERE key = 'version'; UPDATE node SET site = 'elsewhere' WHERE n = 1"
try "$satin" inspect "$work/damaged" --verify
is "damage is found" "$code" 3
is "… in a result" "$(awk '$1 == "result" { print $2, $3 }' <<<"$answer")" "$((n - 1)) 1"
is "… in the settings" "$(awk '$1 == "run" { print $3 }' <<<"$answer")" 1
is "… in the nodes" "$(awk '$1 == "node" { print $3 }' <<<"$answer")" 1
ok "and reported in one sentence" grep -q "^satin: checkpoint .*3 of [0-9]* rows are missing or damaged (1 of $n results)" <<<"$words"
try "$satin" inspect "$work/damaged" --why "$saved"
ok "a damaged row counts as missing" grep -vqF "$saved is saved" <<<"$answer"

cp "$file" "$work/gone"
sqlite3 "$work/gone" "DELETE FROM result WHERE path = '$saved'"
try "$satin" inspect "$work/gone" --verify
is "a removed row is found missing" "$code" 3
is "and counted" "$(awk '$1 == "result" { print $2, $3, $4 }' <<<"$answer")" "$((n - 1)) 0 1"
ok "and reported in one sentence" grep -q "^satin: checkpoint .* is damaged: 1 of [0-9]* rows are missing (1 of $n results); a resume" <<<"$words"
try "$satin" inspect "$work/gone" --json
is "the JSON has the figure" "$(json "json_extract (j, '\$.missing_results')")" 1
cp "$file" "$work/jobless"
sqlite3 "$work/jobless" "DELETE FROM job"
try "$satin" inspect "$work/jobless" --verify
is "without the rows of job all results are kept" "$(awk '$1 == "result" { print $2, $3, $4 }' <<<"$answer")" "$n 0 0"
is "but the damage is reported" "$code" 3
cp "$file" "$work/uncounted"
sqlite3 "$work/uncounted" "DELETE FROM run WHERE key = 'rows'; DELETE FROM constant WHERE name = 'run/rows'"
try "$satin" inspect "$work/uncounted" --verify
is "without the count the file is not called sound" "$code" 3
ok "it says that the number is not known" grep -q "how many rows are missing is not known" <<<"$words"

try "$satin" inspect "$work/nowhere" --tree
is "no checkpoint" "$code" 4

file=$work/tour.satin
begin "$SATIN_BIN/tsp" "$(instance kroA100.tsp)" --checkpoint "$file" --interval 0.1
ok "a tour has rows" wait_for $((30 * slow)) has_rows "$file" 3
kill -TERM "$begun"
ended
try "$satin" inspect "$file" --tree
ok "records print without their program" grep -q " search = ([0-9]*, 100, 0x" <<<"$answer"
try "$satin" inspect "$file" --json
is "a tour's JSON is valid" "$(json 'json_valid (j)')" 1
is "its input is in it" "$(json "json_extract (j, '\$.constants[#-1].name')")" "input/$(instance kroA100.tsp)"
try "$satin" inspect "$file" --verify
is "and it is sound" "$code" 0

# The same run is continued twice from this file: two files of one run.
cp "$file" "$work/a.satin"
cp "$file" "$work/b.satin"
more () { [ "$(rows "$1")" -gt "$n" ]; }
n=$(rows "$file")
for side in a b; do
  begin "$SATIN_BIN/tsp" "$(instance kroA100.tsp)" --checkpoint "$work/$side.satin" --interval 0.1 --workers "$((n % 2 + 1))"
  wait_for 2 more "$work/$side.satin"
  kill -9 "$begun"
  ended
done
try "$satin" merge "$work/both.satin" "$work/a.satin" "$work/b.satin"
is "two files of one run are merged" "$code" 0
is "… into as many results as it says" "${answer%% *}" "$(rows "$work/both.satin")"
try "$satin" inspect --verify "$work/both.satin"
is "… all of which are sound" "$code" 0
done_of () { sqlite3 "$1" 'SELECT total (weight) FROM result'; }
is "… with at least as much done as in either" "$(sqlite3 :memory: "SELECT $(done_of "$work/both.satin") + 1e-9 >=
  max ($(done_of "$work/a.satin"), $(done_of "$work/b.satin"))")" 1
try "$satin" merge "$work/both.satin" "$work/a.satin" "$work/b.satin"
is "a file that exists is not overwritten" "$code" 4
try "$satin" merge "$work/none.satin" "$work/a.satin" "$work/queens.satin"
is "files of two runs are not merged" "$code" 3
ok "and no file is left" [ ! -e "$work/none.satin" ]
try "$satin" merge "$work/a.satin" "$work/b.satin"
is "merge takes three files" "$code" 2

file=$work/done.satin
try "$SATIN_BIN/nqueens" 8 --checkpoint "$file"
try "$satin" inspect "$file" --tree
is "a finished run's tree is its root" "$(sed -n 2p <<<"$answer" | sed 's/.* queens \[8,.*\] = //')" 92
try "$satin" inspect "$file" --why /0
ok "everything lies below the root" grep -qF "/0 lies below /, which is saved" <<<"$answer"
try "$satin" inspect "$file" --json
is "its answer is in the JSON" "$(json "json_extract (j, '\$.run.answer') || json_extract (j, '\$.exit')")" "92
0"
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# plans.sh: a few tiny real runs, the results that it writes, and that a wrong answer is a failure. table.awk: its results for
# samples with known medians.
: "${SATIN_BIN:?the folder with satin and the apps}" "${SATIN_SOURCE:?the source folder}"
if [ -n "${SATIN_SANITIZED-}" ]; then
  echo "1..0 # SKIP sanitized programs start too slowly for tiny runs"
  exit 0
fi
. "$SATIN_SOURCE/tests/tap.sh"
here=$SATIN_SOURCE/tests/plans
work=$(mktemp -d "${TMPDIR:-/tmp}/satin-plans-test-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# Without python3 and sqlite3 json_of prints `skipped`, and these tests are skipped.
json_of () # PYTHON SQLITE: of the object `j`
{
  if command -v python3 >/dev/null 2>&1; then
    python3 -c "import json, sys; j = json.load (open (sys.argv[1])); print ($1)" "$work/out/plans.json" 2>&1
  elif command -v sqlite3 >/dev/null 2>&1; then
    sqlite3 :memory: "WITH j (j) AS (SELECT readfile ('$work/out/plans.json')) $2" 2>&1
  else
    echo skipped
  fi
}
is_json () # NAME PYTHON SQLITE WANTED
{
  local got
  got=$(json_of "$2" "$3")
  [ "$got" = skipped ] && { count=$((count + 1)); echo "ok $count - $1 # SKIP neither python3 nor sqlite3"; return; }
  is "$1" "$got" "$4"
}
run_plans () # NAME=VALUE…
{
  rm -rf "$work/out"
  env PLANS_BUILD="${SATIN_BIN%/bin}" PLANS_OUT="$work/out" SIZE=tiny ROUNDS=1 "$@" bash "$here/plans.sh" >"$work/words" 2>&1
  code=$?
  [ $code -eq 0 ] || sed 's/^/# /' "$work/words"
}

# Real runs: two of four nodes are killed, or leave; and a calm run of an app.
run_plans ONLY='order overhead' PLANS=checkpoint
is "tiny runs" "$code" 0
is_json "plans.json has the half that was killed, twice" \
  "[len (f['values']) for f in j['figures'] if f['part'] == 'order' and f['plan'] == 'checkpoint 11 %' and f['figure'] == 'over']" \
  "SELECT '[' || json_array_length (value, '\$.values') || ']' FROM j, json_each (j, '\$.figures') WHERE value ->> 'part' = 'order'
     AND value ->> 'plan' = 'checkpoint 11 %' AND value ->> 'figure' = 'over'" "[2]"
is_json "… and the nodes that left" "len ([1 for f in j['figures'] if f['plan'] == 'leave' and f['figure'] == 'over'])" \
  "SELECT count (*) FROM j, json_each (j, '\$.figures') WHERE value ->> 'plan' = 'leave' AND value ->> 'figure' = 'over'" 1
is_json "… and a share of the CPU time" \
  "len ([1 for f in j['figures'] if f['figure'] == 'share' and 0 < f['median'] < 100])" \
  "SELECT count (*) FROM j, json_each (j, '\$.figures') WHERE value ->> 'figure' = 'share' AND value ->> 'median' > 0" 1
is_json "… and the time until the last lost job was back" "len ([1 for f in j['figures'] if f['figure'] == 'back_s' and f['min'] > 0]) > 0" \
  "SELECT iif (count (*) > 0, 'True', 'False') FROM j, json_each (j, '\$.figures') WHERE value ->> 'figure' = 'back_s' AND value ->> 'min' > 0" True
is_json "… and the bytes sent to the coordinator" \
  "len ([1 for f in j['figures'] if f['figure'] == 'sent_saves_kb' and f['part'] == 'order' and f['plan'] == 'checkpoint 11 %' and f['min'] > 0])" \
  "SELECT count (*) FROM j, json_each (j, '\$.figures') WHERE value ->> 'figure' = 'sent_saves_kb' AND value ->> 'part' = 'order'
     AND value ->> 'plan' = 'checkpoint 11 %' AND value ->> 'min' > 0" 1
is "table.md has the traffic by kind, of the killed half and of the app" "$(grep -c '^| results, kB sent | [0-9]' "$work/out/table.md")" 2
is "table.md has the paper's figure next to ours" \
  "$(grep -c '^| leave over 3/4 of the nodes from the start | -*[0-9.]* % | 12 %' "$work/out/table.md")" 1
is "… and the date and the machine" "$(grep -cE '^- (date|machine|commit): .' "$work/out/table.md")" 3
is "the plot is whole" "$(tail -n 1 "$work/out/overhead.svg")" "</svg>"

# A program that gives a wrong answer.
mkdir -p "$work/bad/bin"
for program in "$SATIN_BIN"/*; do ln -s "$program" "$work/bad/bin/"; done
rm "$work/bad/bin/uts"
ln -s "$SATIN_BIN/fib" "$work/bad/bin/uts"
run_plans ONLY=overhead PLANS=orphan PLANS_BUILD="$work/bad" >"$work/quiet"
is "a wrong answer is a failure" "$code" 1
is "… and is named" "$(grep -c '^- FAILED: uts T1, orphan: the answer is' "$work/out/table.md")" 1
run_plans ONLY=overhead PLANS=none >"$work/quiet"
is "an unknown plan is refused" "$code" 2
run_plans ONLY=nothing >"$work/quiet"
is "so is an unknown part" "$code" 2

# Samples with known medians.
printf '%s\n' 'crash|half|auto|over|1.5' 'crash|half|auto|over|1.0' 'crash|half|auto|over|1.2' 'crash|half-master|auto|over|1.25' 'crash|calm|auto|over|0.5' \
  'order|crash|naive|time_s|10' 'order|crash|orphan|time_s|8' 'order|crash|orphan|time_s|7' >"$work/samples"
printf 'wait|1.00\ncommit|a "word"\n' >"$work/about"
printf '# a comment\nworst|worst|crash,half+half-master,auto,over||times|1|000\nless|less|order,crash,orphan,time_s|%s|%%|2|001\n' \
  'order,crash,naive,time_s' >"$work/papers"
printf 'low|worst|crash,*,auto,over||<1.25|<1\nhigh|value|order,crash,naive,time_s||>11|>12\nless than none|value|crash,calm,auto,over||<2|<1\n' >"$work/bounds"
lists=(-v papers="$work/papers" -v bounds="$work/bounds" -v plans="naive orphan auto" -v out="$work/out")
mkdir -p "$work/out"
touch "$work/none"
awk -f "$here/stats.awk" -f "$here/table.awk" "${lists[@]}" -v about="$work/about" -v warnings="$work/none" "$work/samples"
awk -f "$here/stats.awk" -f "$here/plot.awk" "${lists[@]}" "$work/samples"
row () { grep -cxF -- "$1" "$work/out/table.md"; }
is "a median with its range" "$(row '| half | 1.200 (1.000 to 1.500) |')" 1
is "the worst of two cases" "$(row '| worst | 1.25 times, half-master | 1 | 000 |')" 1
is "time saved" "$(row '| less | 25 % | 2 | 001 |')" 1
is "a bound that is reached" "$(row '| low | 1.25 | at most 1.25 | at most 1 | ok |')" 1
is "a bound that is missed" "$(row '| high | 10 | at least 11 | at least 12 | MISSED |')" 1
is "a ratio that cannot be" "$(row '| less than none | 0.5 | at most 2 | at most 1 | not believed |')" 1
is_json "words with quotes" "j['commit']" "SELECT j ->> 'commit' FROM j" 'a "word"'
is "the paper's band is in the plot" "$(grep -c 'fill="#bbbbbb"' "$work/out/order.svg")" 1
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What table.awk, used by make bench, computes from samples: medians, ratios, comparisons with bounds, and bench.json.
bench=${SATIN_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/bench
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n=0

check () # NAME COMMAND…
{
  local name=$1
  shift
  n=$((n + 1))
  if "$@"; then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    sed 's/^/# /' "$folder/table" "$folder/json"
  fi
}

cat >"$folder/samples" <<END
fib 9|serial|1|1|0.9
fib 9|satin|1|1|2.0
fib 9|satin|2|1|1.2
fib 9|serial-twice|2|2|1.0
fib 9|serial|1|1|1.1
fib 9|satin|1|1|10.0
fib 9|satin|2|1|1.0
fib 9|serial-twice|2|2|1.0
fib 9|serial|1|1|1.0
fib 9|satin|1|1|1.5
fib 9|satin|2|1|1.1
fib 9|serial-twice|2|2|1.25
fib 9|openmp|1|1|7
fib 9|openmp|1|1|8
fib 8|serial|1|1|1
fib 8|serial-twice|2|2|1.5
fib 8|satin|1|1|1
fib 8|satin|2|1|0.6
END
cat >"$folder/measures" <<END
= first
over, reached|over|fib 9,satin,1,1|fib 9,serial,1,1|<2.1|<1.9
over, missed|over|fib 9,openmp,1,1|fib 9,serial,1,1|<2.1|<1.9
ceiling|ceiling|fib 9|2,1|>0.9|>0.95
above|ceiling|fib 8|2,1|>0.9|>0.95
not run|over|fib 10,satin,1,1|fib 9,serial,1,1|<2.1|<1.9
= second
not run|ceiling|fib 10|2,1|>0.9|>0.95
= third
figure|figure|steal|us|<10|<3
END
printf 'steal|2\nsteal|9\nsteal|-1\n' >"$folder/figures"
awk -f "$bench/table.awk" -v json="$folder/json" -v measures="$folder/measures" -v figures="$folder/figures" \
  "$folder/samples" >"$folder/table"

row () { grep -qE "^ *${1// / +}\$" "$folder/table"; }
check "the median of an odd number of rounds" row "fib 9 satin 1 1 2.0000 1.5000 10.0000 2.00"
check "the median of an even number of rounds is the mean of the middle two" row "fib 9 openmp 1 1 7.5000 7.0000 8.0000 7.50"
check "a ratio of medians and one of shortest times" row "over, reached 2 1.667 <= 2.1 <= 1.9 ok"
check "a ratio above its bound is marked" row "over, missed 7.5 7.778 <= 2.1 <= 1.9 MISSED"
# Of medians: (2.0 / 1.1) / (2 x 1.0 / 1.0). Of the shortest times: (1.5 / 1.0) / (2 x 0.9 / 1.0).
check "a speed-up as a share of the ceiling" row "ceiling 0.9091 0.8333 >= 0.9 >= 0.95 ok"
check "a speed-up above the ceiling is not believed" row "above 1.25 1.25 >= 0.9 >= 0.95 not believed: above the ceiling"
check "a figure" row "figure, us 2 -1 <= 10 <= 3 reaches the aim"
check "what was not run has no row" [ "$(grep -cE 'not run|second' "$folder/table")" = 0 ]
check "headings" [ "$(grep -cE '^(first|third)$' "$folder/table")" = 2 ]
line='{"bench": "fib 9", "runtime": "satin", "workers": 2, "processes": 1, "median_s": 1.100000,'
line="$line \"min_s\": 1.000000, \"max_s\": 1.200000, \"rounds\": 3}"
check "bench.json has an object for each run" grep -qF "$line" "$folder/json"
check "bench.json is a list" [ "$(sed -n '1p;$p' "$folder/json" | tr -d '\n')" = '[]' ]
check "bench.json lists all runs" [ "$(grep -c '"bench"' "$folder/json")" = 9 ]
check "every measure has a kind, two operands and two bounds" \
  [ -z "$(grep -v '^= ' "$bench/measures" | grep -vE '^[^|]+\|(over|ceiling|figure)\|[^|]+\|[^|]+\|[<>][0-9.]+\|[<>][0-9.]+$')" ]
echo "1..$n"

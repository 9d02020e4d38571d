#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The programs in apps/ give known answers: alone, on two nodes, and some with a node killed.
. "$(dirname "$0")/lib.sh"
uts=$SATIN_BIN/uts integrate=$SATIN_BIN/integrate sleep=$SATIN_BIN/sleep
t1="nodes 4130071 depth 10 leaves 3305118"
t3="nodes 4112897 depth 1572 leaves 3599034"

known () # NAME ANSWER COMMAND…: alone and on two nodes
{
  local name=$1 wanted=$2
  shift 2
  try "$@"
  is "$name, alone" "$answer" "$wanted"
  try "$satin" run -n 2 -- "$@"
  is "$name, on two nodes" "$answer" "$wanted"
}

survives () # NAME ANSWER WORKERS COMMAND…: on three nodes, one of which is killed
{
  local name=$1 wanted=$2 workers=$3 run=$1 victim
  shift 3
  run=${run// /-}
  # A run that ended before the death was noticed is repeated.
  for _ in 1 2 3 4 5; do
    begin "$satin" run -n 3 -w "$workers" --name "$run" -- "$@"
    wait_for $((20 * slow)) eval 'up "$run" 3 || gone "$begun"'
    victim=$(other_of "$run")
    [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null
    ended
    [ "$answer" = "$wanted" ] && ! grep -q "node ${victim:-none} died" <<<"$words" || break
  done
  is "$name: with a node killed" "$answer" "$wanted"
  ok "$name: the death is reported" grep -q "node ${victim:-none} died" <<<"$words"
}

# Chooses enough work to keep this machine busy while nodes start. Measures the processor time of T1 alone, and from it computes
# how often each node is hashed: once with ThreadSanitizer or on a slow machine.
{ TIMEFORMAT=%3U; time try "$uts" T1; } 2>"$work/time"
ms=$(tail -n 1 "$work/time" | tr -d .,)
times=$((2000 / (10#$ms + 1) + 1))
is "uts T1, alone" "$answer" "$t1"
try "$satin" run -n 2 -- "$uts" T1
is "uts T1, on two nodes" "$answer" "$t1"
known "uts T3" "$t3" "$uts" T3
known "uts, a small cyclic tree" "nodes 121 depth 11 leaves 67" \
  "$uts" --type 1 --shape 2 --depth 4 --branch 3 --seed 502
known "uts, a small hybrid tree" "nodes 3443 depth 42 leaves 2575" \
  "$uts" --type 2 --shape 0 --depth 8 --branch 4 --seed 1 --q 0.234375 --m 4
known "uts, a tree with a wide root" "nodes 1001001 depth 2 leaves 1000000" \
  "$uts" --type 3 --depth 2 --branch 1000
survives "uts T1" "$t1" 1 "$uts" T1 --granularity "$times"
survives "uts T3" "$t3" 1 "$uts" T3 --granularity "$times"

# The integral is known in closed form. The printed digits are the same on any number of nodes.
try "$integrate"
sum=$answer
near () { awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { exit !(a != "" && a - b < e && b - a < e) }'; }
ok "integrate, alone" near "$sum" 2231.701373237649 1e-8
try "$integrate" 0 400
ok "integrate from 0 to 400" near "$answer" 20.926761609737525 1e-8
try "$satin" run -n 2 -- "$integrate"
is "integrate, on two nodes: the same bits" "$answer" "$sum"
try "$integrate" --epsilon 1e-10
fine=$answer
ok "integrate, finer" near "$fine" 2231.701373237649 1e-9
survives "integrate" "$fine" 1 "$integrate" --epsilon 1e-10

# The node counts of Korf's search do not depend on the number of nodes, for each threshold.
korf=$SATIN_SOURCE/apps/puzzle15/korf.txt
try "$SATIN_BIN/puzzle15" "$korf" 55 --thresholds --workers 1
counted=$answer
is "puzzle15: the count is Korf's" "$(head -n 1 <<<"$counted")" "length 41 nodes 927212"
is "puzzle15: the thresholds add up" \
  "$(awk '/^threshold/ { sum += $4 } END { print sum + 1 }' <<<"$counted")" 927212
known "puzzle15, each threshold" "$counted" "$SATIN_BIN/puzzle15" "$korf" 55 --thresholds

known "sleep" "leaves 81" "$sleep" 1 --depth 4 --branch 3
survives "sleep" "leaves 256" 2 "$sleep" 100 --depth 8 --branch 2

# Haines published the numbers of rays for the balls; a tenth more or less is fine, as he says himself. The picture is the same
# for any number of nodes, and the file of --watch ends as that picture.
ray=$SATIN_BIN/raytrace
try "$ray" --balls 4 --png "$work/balls.png" --ppm "$work/balls.ppm"
balls=$answer
about () { [ "$1" -gt $(($2 * 9 / 10)) ] && [ "$1" -lt $(($2 * 11 / 10)) ]; }
read -r _ eye _ hits _ reflected _ refracted _ shadow <<<"$(tail -n 1 <<<"$balls")"
is "raytrace: all rays from the eye meet something" "$eye $hits $refracted" "263169 263169 0"
ok "raytrace: reflected rays" about "$reflected" 175095
ok "raytrace: shadow rays" about "$shadow" 954368
is "raytrace: a PPM of that size" "$(head -c 15 "$work/balls.ppm" | tr '\n' ' ') $(stat -c %s "$work/balls.ppm")" \
  "P6 512 512 255  $((15 + 512 * 512 * 3))"
is "raytrace: the checksum is that of the pixels" "$(tail -c +16 "$work/balls.ppm" | sha256sum | head -c 16)" \
  "$(sed -n 's/.*checksum //p' <<<"$balls")"
try "$satin" run -n 3 -w 1 -- "$ray" --balls 4 --watch "$work/watched.png"
is "raytrace: the same on three nodes" "$answer" "$balls"
ok "raytrace: the watched file is the picture at the end" cmp -s "$work/watched.png" "$work/balls.png"
for scene in tetra-s3:62788 tetra-s5:53807 tetra-s6:49950 mount-s3:172519 balls-s2:263169; do
  file=${SATIN_DATA-}/nff/${scene%:*}.nff
  if [ -e "$file" ]; then
    try "$ray" "$file"
    is "raytrace: rays that meet something in ${scene%:*}" "$(sed -n 's/.* hits \([0-9]*\) .*/\1/p' <<<"$answer")" "${scene#*:}"
  fi
done
try "$ray" --classic "$SATIN_SOURCE/apps/raytrace/classic.nff"
is "raytrace: the same rays and picture as the classic Satin program" "$(head -n 1 <<<"$answer")" "rays 15584 checksum 12df1b6bb0f7b8c9"
goal=${SATIN_DATA-}/satin/raytracer_test_goal.ppm
if [ -e "$goal" ]; then
  try "$ray" --classic "${goal%/*}/raytracer_pics_balls2_small.nff" --ppm "$work/classic.ppm"
  is "raytrace: the reference picture of the classic program" \
    "$(tail -c 3072 "$work/classic.ppm" | od -An -v -tu1 | tr -s ' ' '\n' | grep .)" \
    "$(tail -n +4 "$goal" | tr -s ' \r' '\n' | grep .)"
fi

# The gun fires every 30 generations. A pattern that was written continues like the original.
try "$SATIN_BIN/life" "$SATIN_SOURCE/apps/life/gun.rle" 150 --every 30
is "life: the gun fires" "$(awk '{ printf "%s ", $4 }' <<<"$answer")" "36 41 46 51 56 61 "
try "$SATIN_BIN/life" "$SATIN_SOURCE/apps/life/acorn.rle" 2000 --rle "$work/acorn.rle"
try "$SATIN_BIN/life" "$work/acorn.rle" 3206
is "life: the acorn continues from the written pattern" "$answer" "generation 3206 population 633"
try "$satin" run -n 2 -- "$SATIN_BIN/life" "$SATIN_SOURCE/apps/life/acorn.rle" 2000 --border 5000 --keep 3
is "life: larger borders and fewer kept phases change nothing" "$answer" "generation 2000 population 392"
try "$satin" run -n 2 -- "$SATIN_BIN/life" "$work/acorn.rle" 3206 --rle -
is "life: to standard output as well" "$(sed -n 's/^\(x = \)[^,]*/\1/p' <<<"$answer" | cut -c 1-4)" "x = "

bad () # NAME COMMAND…
{
  local name=$1
  shift
  try "$@"
  is "$name: exit code" "$code" 2
  ok "$name: one sentence" one_line
}
bad "an unknown tree" "$uts" T7
bad "an unknown type" "$uts" --type 4
bad "half an interval" "$integrate" 3
bad "an epsilon of nothing" "$integrate" --epsilon 0
bad "no time to sleep" "$sleep"
bad "more leaves than a run can count" "$sleep" 1 --depth 60
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Death at every step of every write of the checkpoint (SATIN_CRASH_AT, storage/README): whatever stands at its place is a
# whole file, and whoever goes on from it gets the right answer.
. "$(dirname "$0")/lib.sh"
naps=("$SATIN_BIN/sleep" 25 --depth 5)
wanted="leaves 32"

points=$(grep -rhoE 'crash_point \("[a-z-]+"\)' "$SATIN_SOURCE/storage" "$SATIN_SOURCE/coordinator" | sed 's/.*("//; s/").*//' | sort -u)
for point in $points; do
  ok "$point is told of in storage/README" grep -q "\<$point\>" "$SATIN_SOURCE/storage/README"
done
ok "there are points" [ "$(wc -w <<<"$points")" -ge 8 ]

sound () # FILE: nothing, or a whole checkpoint, for us and for the bare sqlite3
{
  [ -e "$1" ] || return 0
  integrity "$1" && "$satin" inspect "$1" --verify >/dev/null 2>&1
}

for point in $points; do
  # Below; the others come on the way to a URI, or to a large checkpoint: delta.sh, deaths.sh.
  case $point in kept-aside | send | sending | sent | request | requested | *delta* | fold | folded | read-back) continue ;; esac
  for n in 1 2 5; do
    mkdir "$work/$point-$n"
    file=$work/$point-$n/c.satin
    try env SATIN_CRASH_AT="$point:$n" "${naps[@]}" --workers 2 --checkpoint "$file" --interval 0.05
    died=$code
    [ "$n" = 5 ] || is "$point:$n is reached" "$died" 137
    ok "$point:$n leaves nothing or a whole file" sound "$file"
    # A root means that it had ended.
    before=$(sqlite3 "$file" "SELECT count (*) FROM result WHERE path <> ''" 2>/dev/null || echo 0)
    try "${naps[@]}" --workers 2 --checkpoint "$file" --interval 0.05 --stats "$work/stats"
    is "$point:$n and on again: the answer" "$answer" "$wanted"
    is "$point:$n and on again: exit" "$code" 0
    # Else it had ended, or was another run: what that left is not touched.
    if [ "$died" = 137 ] && [ "$before" -gt 0 ]; then
      ok "$point:$n: what was saved is used" grep -q '"jobs_reused": *[1-9]' "$work/stats"
      is "$point:$n: nothing is left beside it" "$(find "$work/$point-$n" -name '.*tmp*' | wc -l)" 0
    fi
  done
done

# While a damaged file is kept aside there is always one in its place. The run is long, so that the second publication is
# not its last, whose answer would be given again whatever became of the rows.
naps=("$SATIN_BIN/sleep" 25 --depth 9) wanted="leaves 512"
file=$work/damaged.satin
try env SATIN_CRASH_AT=published:2 "${naps[@]}" --workers 2 --checkpoint "$file" --interval 0.05
printf 'XXXX' | dd of="$file" bs=1 seek=4096 conv=notrunc 2>/dev/null
try env SATIN_CRASH_AT=kept-aside "${naps[@]}" --workers 16 --checkpoint "$file" --interval 0.05
is "kept-aside is reached" "$code" 137
ok "the file is still there" [ -e "$file" ]
try "${naps[@]}" --workers 16 --checkpoint "$file" --interval 0.05
is "and goes on to the answer" "$answer" "$wanted"
ok "the damaged one is kept" [ "$(find "$work" -name 'damaged.satin.damaged-*' | wc -l)" -ge 1 ]
finish

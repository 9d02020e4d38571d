#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Death at every step of every write of the checkpoint (SATIN_CRASH_AT, storage/README): the checkpoint's place holds nothing or
# a whole file, and a run that is resumed from it gives the right answer.
. "$(dirname "$0")/lib.sh"
naps=("$SATIN_BIN/sleep" 25 --depth 5)
wanted="leaves 32"

points=$(grep -rhoE 'crash_point \("[a-z-]+"\)' "$SATIN_SOURCE/storage" "$SATIN_SOURCE/coordinator" | sed 's/.*("//; s/").*//' | sort -u)
for point in $points; do
  ok "$point is described in storage/README" grep -q "\<$point\>" "$SATIN_SOURCE/storage/README"
done
ok "there are points" [ "$(wc -w <<<"$points")" -ge 8 ]

sound () # FILE: there is no file, or a whole checkpoint, as Satin and as sqlite3 see it
{
  [ -e "$1" ] || return 0
  integrity "$1" && "$satin" inspect "$1" --verify >/dev/null 2>&1
}

for point in $points; do
  # kept-aside is tested below. The others occur with a URI or a large checkpoint: delta.sh, deaths.sh.
  case $point in kept-aside | send | sending | sent | request | requested | *delta* | fold | folded | read-back) continue ;; esac
  for n in 1 2 5; do
    mkdir "$work/$point-$n"
    file=$work/$point-$n/c.satin
    try env SATIN_CRASH_AT="$point:$n" "${naps[@]}" --workers 2 --checkpoint "$file" --interval 0.05
    died=$code
    [ "$n" = 5 ] || is "$point:$n is reached" "$died" 137
    ok "$point:$n leaves nothing or a whole file" sound "$file"
    # Without the root, whose row means that the run had ended.
    before=$(sqlite3 "$file" "SELECT count (*) FROM result WHERE path <> ''" 2>/dev/null || echo 0)
    try "${naps[@]}" --workers 2 --checkpoint "$file" --interval 0.05 --stats "$work/stats"
    is "$point:$n, started again: the answer" "$answer" "$wanted"
    is "$point:$n, started again: the exit code" "$code" 0
    # Otherwise the first run had ended, or had saved nothing: then the second is another run and does not touch what the first
    # left.
    if [ "$died" = 137 ] && [ "$before" -gt 0 ]; then
      ok "$point:$n: saved results are used" grep -q '"jobs_reused": *[1-9]' "$work/stats"
      is "$point:$n: nothing is left beside it" "$(find "$work/$point-$n" -name '.*tmp*' | wc -l)" 0
    fi
  done
done

# While a damaged file is set aside, there is always a file at its place. The run is long, so that the second publication is not
# the last: that one holds the answer, which would be shown again whatever happened to the rows.
naps=("$SATIN_BIN/sleep" 25 --depth 9) wanted="leaves 512"
file=$work/damaged.satin
try env SATIN_CRASH_AT=published:2 "${naps[@]}" --workers 2 --checkpoint "$file" --interval 0.05
printf 'XXXX' | dd of="$file" bs=1 seek=4096 conv=notrunc 2>/dev/null
try env SATIN_CRASH_AT=kept-aside "${naps[@]}" --workers 16 --checkpoint "$file" --interval 0.05
is "kept-aside is reached" "$code" 137
ok "the file is still there" [ -e "$file" ]
try "${naps[@]}" --workers 16 --checkpoint "$file" --interval 0.05
is "a run started again gives the answer" "$answer" "$wanted"
ok "the damaged one is kept" [ "$(find "$work" -name 'damaged.satin.damaged-*' | wc -l)" -ge 1 ]
finish

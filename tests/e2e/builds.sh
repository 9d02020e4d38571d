#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A checkpoint and a run belong to one build of their program. Another build can neither continue the checkpoint nor join the
# run, unless --mended is given or the program states a version.
. "$(dirname "$0")/lib.sh"
folder=$SATIN_BIN/../tests/e2e
file=$work/c.db
program=$work/builds
export NAPS_HASTE=$work/haste
use () { cp "$folder/builds-$1" "$program.new" && mv "$program.new" "$program"; }

# Like `suspended`; after it, leaves no longer sleep.
suspended_on () { rm -f "$NAPS_HASTE"; suspended "$@"; touch "$NAPS_HASTE"; }
# The messages name two builds in one line.
names_builds () { [ "$(grep -cE 'build [0-9a-f]{12}\b.*build [0-9a-f]{12}\b' <<<"$words")" = 1 ]; }

use one
suspended_on one "$file" "$program" 8 200
is "a run is suspended" "$code" 75
try "$satin" inspect "$file"
ok "inspect shows its build" grep -qE '^build +[0-9a-f]{32}$' <<<"$answer"
use two
cp "$file" "$work/kept.db"
try "$satin" resume "$file"
is "resume with another build: exit code" "$code:$answer" "3:"
ok "names both builds and --mended" eval 'names_builds && grep -q -e --mended <<<"$words"'
try "$satin" run --checkpoint "$file" -- "$program" 8 200
is "run with another build: exit code" "$code:$answer" "3:"
ok "names both builds and --mended" eval 'names_builds && grep -q -e --mended <<<"$words"'
try "$program" --checkpoint "$file" 8 200
is "the program alone: exit code" "$code:$answer" "3:"
ok "names both builds and --mended" eval 'names_builds && grep -q -e --mended <<<"$words"'
ok "the file is as it was" cmp "$file" "$work/kept.db"
use one
try "$satin" resume "$file" -n 2
is "the same build goes on" "$code:$answer" "0:256"
use two
try "$satin" run --checkpoint "$file" -- "$program" 8 200
is "another build does not show its answer" "$code:$answer" "3:"

for how in "$satin resume --mended %s" "$satin run --mended --checkpoint %s -- $program 8 200" "$program --mended --checkpoint %s 8 200"; do
  cp "$work/kept.db" "$file"
  # shellcheck disable=SC2059,SC2046
  try $(printf "$how" "$file")
  is "${how##*/} uses saved results" "$code" 0
  ok "for some of the leaves" [ "$answer" -gt 256 -a "$answer" -lt 512 ]
  use one
  try "$program" --checkpoint "$file" 8 200
  is "… and the file is of the new build" "$code:$answer" "3:"
  use two
done

# A checkpoint without a build, as if its row were lost, counts as made by another build.
sqlite3 "$work/kept.db" "DELETE FROM run WHERE key = 'build'; DELETE FROM constant WHERE name = 'run/build'"
use one
try "$satin" resume "$work/kept.db"
is "a file that has lost its build: exit code" "$code:$answer" "3:"
ok "says so, and names --mended" grep -q "does not say which build made it.*--mended" <<<"$words"
try "$satin" resume --mended "$work/kept.db"
is "with --mended it is resumed" "$code:$answer" "0:256"

# The build does not matter if the program states a version.
use v7
suspended_on v7 "$work/v.db" "$program" 8 200
is "a run of version 7 is suspended" "$code" 75
use v8
try "$satin" resume "$work/v.db"
is "version 8: exit code" "$code:$answer" "3:"
ok "names the versions" grep -q "made by 'version 7', and this program is 'version 8'" <<<"$words"
use v7-too
try "$satin" resume "$work/v.db"
is "another build of version 7 resumes it" "$code" 0
ok "… and uses saved results" [ "$answer" -gt 256 -a "$answer" -lt 512 ]

# A node of another build does not join.
use one
rm "$NAPS_HASTE" # the run ends when the third node is up
begin "$satin" run -n 2 -w 1 --name joined -- "$program" 9 200
ok "two nodes are up" wait_for $((20 * slow)) up joined 2
use two
try "$satin" add joined
is "an added node of another build: exit code" "$code" 1
ok "it says how to add the node anyway" grep -q "satin add --mended" <<<"$words"
ok "… and why, with both builds" names_builds
ok "the other nodes go on" up joined 2
try "$satin" add joined --mended
is "add --mended: exit code" "$code" 0
ok "three nodes are up" wait_for $((20 * slow)) up joined 3
touch "$NAPS_HASTE"
ended
is "the run ends" "$code" 0
ok "… and its answer has leaves of both builds" [ "$answer" -ge 512 -a "$answer" -le 1024 ]

# A site that starts another program file, of another build.
use one
cp "$program" "$work/other"
use two
mkdir "$work/far"
cat >"$work/sites" <<END
[site here]
nodes = 1
workers = 1
[site there]
hosts = a
workers = 1
program = $work/other
command = $(bare "$work/far") sh -c
END
rm "$NAPS_HASTE"
begin "$satin" run --sites "$work/sites" -- "$program" 9 200
ok "a site with another build is left out" wait_for $((20 * slow)) grep -q "site .there. is left out" "$work/begun.words"
touch "$NAPS_HASTE"
ended
is "the answer is that of the other site" "$code:$answer" "0:1024"
ok "the site is left out, and why" names_builds
finish

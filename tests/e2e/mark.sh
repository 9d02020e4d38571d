#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The program that a checkpoint names is started only if the checkpoint bears this user's mark. Otherwise the user must name the
# program.
. "$(dirname "$0")/lib.sh"
file=$work/c.db
naps=$(realpath "$SATIN_BIN/../tests/e2e/builds-one")
elsewhere () { try env XDG_CONFIG_HOME="$work/another" "$@"; } # as another user
line () { sed -n 's/.* say: satin //p' <<<"$words"; }           # the command that the message proposes, without its first word
# FILE KEY VALUE: writes a row of the table run as a forger would, in both places, with the right checksum.
forge () { "$SATIN_BIN/../tests/e2e/forge-row" "$@"; }

mkdir "$work/cwd" && cd "$work/cwd" || exit 1
suspended marked "$file" "$naps" 8 20
is "a run is suspended" "$code" 75
cp "$file" "$work/kept.db"
ok "only its user can read the key" [ "$(stat -c %a:%s "$XDG_CONFIG_HOME/satin/key")" = 600:32 ]
hex () { od -An -v -tx1 "$1" | tr -d ' \n'; }
ok "the key is not in the file" eval '! hex "$file" | grep -qF "$(hex "$XDG_CONFIG_HOME/satin/key")"'
cd / || exit 1
try "$satin" resume "$file"
is "its user resumes it" "$code:$answer" "0:256"

cp "$work/kept.db" "$file"
elsewhere "$satin" resume -n 2 "$file"
is "another user does not: exit code" "$code:$answer" "3:"
is "there is one message" "$(wc -l <<<"$words")" 1
is "it has the command to type" "$(line)" "resume --trust -n 2 $file -- $naps 8 20"
ok "and the folder" grep -qF "in the folder $work/cwd" <<<"$words"
ok "and the file stays as it was" cmp "$file" "$work/kept.db"
ok "no key is made for that" [ ! -e "$work/another/satin/key" ]
elsewhere "$satin" resume "$file" -- "$naps"
is "a program alone does not take the arguments of a file" "$code:$answer" "3:"
is "the message has them" "$(line)" "resume --trust $file -- $naps 8 20"
# shellcheck disable=SC2046
elsewhere "$satin" $(line)
is "that command resumes it" "$code:$answer" "0:256"
cp "$work/kept.db" "$file"
elsewhere "$satin" resume "$file" -- "$naps" 8 21
is "other arguments are another run" "$code:$answer" "3:"
cp "$naps" "$work/moved"
try "$satin" resume "$file" -- "$work/moved"
is "for a marked file the program's path is enough" "$code:$answer" "0:256"
try "$satin" resume "$file"
is "a saved answer is shown: nothing is started" "$code:$answer" "0:256"
elsewhere "$satin" resume "$file"
is "but not to another user, who did not compute it" "$code:$answer" "3:"
elsewhere "$satin" resume --trust "$file"
is "unless --trust is given" "$code:$answer" "0:256"

# A checkpoint that another user resumed bears that user's mark from then on.
cp "$work/kept.db" "$file"
begin env XDG_CONFIG_HOME="$work/another" "$satin" resume --trust --name his "$file" --interval 0.1 -- "$naps" 8 20
is_his () { ! cmp -s "$work/kept.db" "$file"; } # a run that has not published leaves the file as it was
ok "the other user's run has published" wait_for $((20 * slow)) is_his
"$satin" suspend his 2>/dev/null
ended
is "the other user suspends it" "$code" 75
try "$satin" resume "$file"
is "the first user cannot resume it now" "$code:$answer" "3:"
elsewhere "$satin" resume "$file"
is "but the other user can" "$code:$answer" "0:256"

# A program alone marks its checkpoint, too. It runs even if there is no place for a key.
rm -f "$file"
begin "$naps" --checkpoint "$file" --interval 0.1 --workers 2 8 60
ok "a program alone saves" wait_for $((20 * slow)) has_rows "$file" 3
kill -TERM "$begun"
ended
cp "$file" "$work/alone.db"
try "$satin" resume "$file"
is "its checkpoint is resumed" "$code:$answer" "0:256"
rm -f "$file"
: >"$work/nothing"
begin env XDG_CONFIG_HOME="$work/nothing" "$naps" --checkpoint "$file" --interval 0.1 --workers 2 8 60
ok "a program that has no place for a key saves" wait_for $((20 * slow)) has_rows "$file" 3
kill -TERM "$begun"
ended
is "no message mentions it" "$code:$(grep -c mark <<<"$words")" "75:0"
try "$satin" resume "$file"
is "its file cannot be resumed" "$code:$answer" "3:"
ok "the message says that it bears no mark" grep -q "bears no mark" <<<"$words"

# Arguments that look like Satin's options, and arguments that a terminal would interpret.
cp "$work/kept.db" "$file"
forge "$file" argv "[b'--workers', b'a b', b'\\033[31m']"
try "$satin" resume "$file"
is "a forged file: exit code" "$code:$answer" "3:"
is "its arguments are quoted so that they can be typed" "$(line)" "resume --trust $file -- $naps -- --workers 'a b' \$'\\033[31m'"
for row in "program:/bin/sh" "folder:/" "identity:00112233445566778899aabbccddeeff"; do
  cp "$work/kept.db" "$file"
  forge "$file" "${row%%:*}" "${row#*:}"
  try "$satin" resume "$file"
  is "a forged ${row%%:*}: exit code" "$code:$answer" "3:"
done

# Each row that is needed to start the program may be missing.
for row in program argv folder mark; do
  cp "$work/kept.db" "$file"
  sqlite3 "$file" "DELETE FROM run WHERE key = '$row'; DELETE FROM constant WHERE name = 'run/$row'"
  try "$satin" resume "$file"
  is "without $row: exit code" "$code:$answer" "3:"
  is "without $row: one message" "$(wc -l <<<"$words")" 1
  ok "without $row: the command to type" grep -qE "(say|give them): satin resume $file -- " <<<"$words"
  try "$satin" resume "$file" -- "$naps" 8 20
  is "without $row: the given program is started" "$code:$answer" "0:256"
done

# A file from another user names a program that must not be started: no verb starts it, whether its results are trusted or not.
cp "$naps" "$work/wanted"
XDG_CONFIG_HOME=$work/colleague suspended mailed "$work/mailed.db" "$work/wanted" 8 20
is "a colleague suspends a run" "$code" 75
rm "$work/wanted"
printf '#!/bin/sh\n: >%q\n' "$work/ran" >"$work/wanted"
chmod 755 "$work/wanted"
mailed () # WORD…: runs a verb as another user; FILE stands for a fresh copy of the file
{
  local line=() word
  cp "$work/mailed.db" "$file"
  for word in "$@"; do line+=("${word/#FILE/$file}"); done
  elsewhere timeout $((60 * slow)) "$satin" "${line[@]}"
  ok "a mailed file: nothing is started by $*" eval '[ ! -e "$work/ran" ] && [ "$code" -lt 120 ]'
}
for verb in resume "resume --trust" "resume -n 2" inspect "inspect --verify" "inspect --tree" "inspect --why /0" \
  "inspect --json" trust "status" "jobs" "metrics" "log" "wait" "add" "save" "suspend" "cancel" "leave" "submit"; do
  read -ra verbs <<<"$verb"
  mailed "${verbs[@]}" FILE
done
mailed replay FILE / --trust
mailed replay FILE --verify 1
mailed view FILE --html "$work/page.html"
mailed merge --trust "$work/merged.db" FILE FILE
elsewhere "$satin" resume "$work/merged.db"
ok "… nor by a resume of a merged file" eval '[ ! -e "$work/ran" ] && [ "$code" -eq 3 ]'
mailed trust FILE
elsewhere "$satin" resume "$file"
ok "… nor by a resume after trust" eval '[ ! -e "$work/ran" ] && [ "$code" -eq 3 ]'
elsewhere "$satin" resume --trust "$file" -- "$work/wanted" 8 20
ok "… only when the command line names the program" [ -e "$work/ran" ]
finish

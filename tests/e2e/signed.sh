#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A run uses only rows with a proof by this user's key, unless --trust is given.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
trap 'stop_servers; leave' EXIT
naps=$(realpath "$SATIN_BIN/../tests/e2e/builds-one")
phases=$(realpath "$SATIN_BIN/../tests/e2e/phases")
file=$work/c.db
elsewhere () { try env XDG_CONFIG_HOME="$work/another" "$@"; } # as another user
# FILE SQL, FILE KEY VALUE: changes a file as a forger would who can make every checksum but has no key.
forge () { "$SATIN_BIN/../tests/e2e/forge-row" "$@"; }
old () { "$SATIN_BIN/../tests/e2e/old-format" "$@"; } # FILE [KEY]
ask () { sqlite3 "$1" "$2"; }
RESULT="path, node, job, digest, value, work_s, saved, weight"
forged_results () # FILE VALUE: sets all results to VALUE
{
  forge "$1" "UPDATE result SET value = $2, sum = row_sum ('result', path, node, job, digest, $2, work_s, saved, weight, json, args, began, took_ms)"
}
program () { rm -f "$file"; cp "$work/kept.db" "$file"; } # restores the suspended checkpoint
key=$XDG_CONFIG_HOME/satin/key

suspended mine "$work/kept.db" "$naps" 8 30
is "a run is suspended" "$code" 75
is "each row of each table has a proof" \
  "$(for t in run node job constant result event; do ask "$work/kept.db" "SELECT count(*) FROM $t WHERE length(sum) <> 16 OR substr(sum, 9) = zeroblob(8)"; done | sort -u)" 0
is "the file is of format 4" "$(ask "$work/kept.db" "PRAGMA user_version")" 4
try "$satin" inspect "$work/kept.db"
ok "inspect says that the proofs are this user's" grep -q "^proof     yours, of each row" <<<"$answer"
proof_of () { "$@" "$satin" inspect --json "$file" | sed -n 's/.*"proof":"\([a-z]*\)".*/\1/p'; }
cp "$work/kept.db" "$file"
is "… in JSON, too" "$(proof_of env)" rows
is "… and another user has none of them" "$(proof_of env XDG_CONFIG_HOME="$work/another")" none
hex () { od -An -v -tx1 "$1" | tr -d ' \n'; }
ok "the key is not in the file" eval '! hex "$work/kept.db" | grep -qF "$(hex "$key")"'

program
try "$satin" resume --stats "$work/stats" "$file"
is "its user resumes it" "$code:$answer:$words" "0:256:"
cp "$file" "$work/finished.db"

# Forged results with right checksums.
program
n=$(ask "$file" "SELECT count(*) FROM result")
ok "results are forged" forged_results "$file" 77
try "$satin" inspect --verify "$file"
is "inspect --verify: exit code" "$code" 3
is "… counts them as damage" "$(awk '$1 == "result" { print $2, $3 }' <<<"$answer")" "0 $n"
try "$satin" resume "$file"
is "a resume does not use them" "$code:$answer" "0:256"
ok "… and says how many" grep -q "is damaged: .*$n of $n results" <<<"$words"
ok "… and keeps the forged file" [ -n "$(ls "$file".damaged-* 2>/dev/null)" ]
rm -f "$file".damaged-*

program
ok "the root's result is forged" forge "$file" "INSERT INTO result SELECT '', node, job, digest, 77, 1.0, saved, 1.0, NULL, NULL, NULL, NULL,
  row_sum ('result', '', node, job, digest, 77, 1.0, saved, 1.0, NULL, NULL, NULL, NULL) FROM result LIMIT 1"
try "$naps" --checkpoint "$file" --workers 2 8 30
is "a program alone does not use it" "$code:$answer" "0:256"
ok "… and reports the damage" grep -q "is damaged" <<<"$words"
rm -f "$file".damaged-*

program
forge "$file" answer "99
"
forge "$file" exit 0
try "$satin" resume "$file"
is "a forged answer is not printed" "$code:$answer" "0:256"
rm -f "$file".damaged-*
program
forge "$file" answer "99
"
forge "$file" exit 0
try "$satin" run --checkpoint "$file" -- "$naps" 8 30
is "… nor by run" "$code:$answer" "0:256"
rm -f "$file".damaged-*
cp "$work/finished.db" "$file"
forge "$file" answer "99
"
try "$satin" resume "$file"
is "an answer that replaces the right one is not printed" "$code:$answer" "0:256"
rm -f "$file".damaged-*

# Rows of another checkpoint of the same program, arguments and user: that run may have had other inputs.
suspended other "$work/other.db" "$naps" 8 30
program
ask "$file" "ATTACH '$work/other.db' AS b; DELETE FROM result; INSERT INTO result SELECT * FROM b.result"
try "$satin" inspect --verify "$file"
is "rows of another run are damage" "$(awk '$1 == "result" { print $2 }' <<<"$answer")" 0
try "$satin" resume "$file"
is "… and not used" "$code:$answer" "0:256"
rm -f "$file".damaged-*

# Constants and inputs.
tsp=$work/tour.tsp
cp "$SATIN_SOURCE/apps/tsp/random75.tsp" "$tsp"
begin "$satin" run --name tour -w 1 --checkpoint "$work/tour.db" --interval 0.05 -- "$SATIN_BIN/tsp" "$tsp"
wait_for $((20 * slow)) has_rows "$work/tour.db" 3
"$satin" suspend tour 2>/dev/null
ended
ok "an input is forged" forge "$work/tour.db" "UPDATE constant SET value = 'none', digest = NULL,
  sum = row_sum ('constant', name, type, NULL, 'none') WHERE name LIKE 'input/%'"
try "$satin" inspect "$work/tour.db"
ok "inspect calls it damaged" grep -q "is damaged" <<<"$words"
try "$satin" resume "$work/tour.db"
is "the input is read again in place of the forged one" "$code:$(sed -n 's/^length //p' <<<"$answer")" "0:6954"

# Kept states.
begin "$satin" run --name kept -w 1 -n 2 --checkpoint "$work/phases.db" --interval 0.05 -- "$phases" 8 600 200000
ok "states are kept" wait_for $((20 * slow)) eval '[ "$(ask "$work/phases.db" "SELECT count(*) FROM keep" 2>/dev/null || echo 0)" -ge 1 ]'
"$satin" suspend kept 2>/dev/null
ended
k=$(ask "$work/phases.db" "SELECT count(*) FROM keep")
ok "kept states are forged" forge "$work/phases.db" "UPDATE keep SET children = children + 1,
  sum = row_sum ('keep', path, children + 1, digest, type, value, json, args)"
try "$satin" inspect --verify "$work/phases.db"
is "forged states count as damage" "$(awk '$1 == "keep" { print $2, $3 }' <<<"$answer")" "0 $k"
try "$satin" resume "$work/phases.db"
is "and not used" "$code:$(head -n 1 <<<"$answer")" "0:e6a4943c67cb9956"

# A checkpoint of another user.
program
elsewhere "$naps" --checkpoint "$file" --workers 2 8 30
is "another user: a program alone refuses it" "$code:$answer" "3:"
ok "… with one message that says what to do" eval '[ "$(wc -l <<<"$words")" = 1 ] && grep -q -- "--trust" <<<"$words"'
elsewhere "$satin" run --checkpoint "$file" -- "$naps" 8 30
is "run refuses it" "$code:$answer" "3:"
elsewhere "$satin" resume "$file" -- "$naps" 8 30
is "resume refuses it" "$code:$answer" "3:"
ok "the file stays as it was" cmp "$file" "$work/kept.db"
elsewhere "$satin" inspect "$file"
ok "inspect says that no proof is the user's" grep -q "^proof     none of yours" <<<"$answer"
is "and reports no damage" "$code:$words" "0:"
elsewhere "$satin" run --trust --stats "$work/stats" --checkpoint "$file" -- "$naps" 8 30
is "--trust uses it" "$code:$answer" "0:256"
ok "with a message" grep -q "because you said --trust" <<<"$words"
ok "and uses its results" grep -q '"jobs_reused": *[1-9]' "$work/stats"
elsewhere "$satin" resume "$file"
is "from then on it is the other user's" "$code:$answer:$words" "0:256:"
try "$satin" resume "$file"
is "and no longer its first user's" "$code:$answer" "3:"
program
elsewhere "$naps" --trust --checkpoint "$file" --workers 2 8 30
is "a program alone takes --trust" "$code:$answer" "0:256"
cp "$work/finished.db" "$file"
elsewhere "$satin" run --checkpoint "$file" -- "$naps" 8 30
is "run does not print another user's answer" "$code:$answer" "3:"

# satin trust makes a checkpoint this user's.
program
elsewhere "$satin" trust "$file"
is "trust: exit code" "$code" 0
ok "… says what it trusts" grep -q "$n results of .* 8 30, .* count as yours" <<<"$answer"
is "… keeps all results" "$(ask "$file" "SELECT group_concat(path || value) FROM result")" "$(ask "$work/kept.db" "SELECT group_concat(path || value) FROM result")"
elsewhere "$satin" inspect --verify "$file"
is "… leaves it whole" "$code" 0
elsewhere "$satin" trust "$file"
is "… succeeds a second time" "$code" 0
elsewhere "$satin" resume "$file"
is "the program that it names is still not started" "$code:$answer" "3:"
elsewhere "$satin" resume "$file" -- "$naps" 8 30
is "its results are used" "$code:$answer:$words" "0:256:"
elsewhere "$satin" trust "$work/nothing.db"
is "trust of a missing file" "$code" 4
if start_sftp "$work/sftp"; then
  far () { elsewhere env HOME="$work/sftp/home" "$@"; }
  cp "$work/kept.db" "$work/sftp/files/far.db"; chmod 666 "$work/sftp/files/far.db"
  far "$satin" trust "$uri/far.db"
  is "trust at a store: exit code" "$code" 0
  ok "… says what it trusts" grep -q "$n results of .* 8 30, .* count as yours" <<<"$answer"
  is "… its rows there have proofs" "$(file=$work/sftp/files/far.db proof_of env XDG_CONFIG_HOME="$work/another")" rows
  far "$satin" resume "$uri/far.db" -- "$naps" 8 30
  is "its results are used" "$code:$answer:$words" "0:256:"
else
  skip "trust at a store" "$why"
fi
ok "another user's file with forged results" eval 'program && forged_results "$file" 77'
elsewhere "$satin" trust "$file"
is "trust cannot tell another user's forgery from right results" "$code" 0

# Files of format 1.
program
cp "$file" "$work/old.db"
ok "the file is one of format 1, with the mark of that time" old "$work/old.db" "$key"
cp "$work/old.db" "$file"
try "$satin" inspect "$file"
ok "inspect says so" grep -q "^proof     none: your mark of an older Satin" <<<"$answer"
sqlite3 "$file" "VACUUM"
try "$satin" resume --stats "$work/stats" "$file"
is "an old file is resumed" "$code:$answer" "0:256"
ok "with a warning" grep -q "made by an older Satin" <<<"$words"
ok "its results are used" grep -q '"jobs_reused": *[1-9]' "$work/stats"
is "it is then of format 4" "$(ask "$file" "PRAGMA user_version")" 4
rm -f "$file".damaged-*
cp "$work/old.db" "$file"
elsewhere "$satin" resume "$file" -- "$naps" 8 30
is "another user's old file is refused" "$code:$answer" "3:"
program
ok "a forger removes all proofs" old "$file"
forged_results "$file" 77
old "$file"
try "$satin" resume "$file"
is "which does not make it a file of an older Satin" "$code:$answer" "3:"

# Two files of one run.
cp "$work/kept.db" "$work/a.db"
cp "$work/kept.db" "$work/b.db"
forged_results "$work/b.db" 77
try "$satin" merge "$work/m.db" "$work/a.db" "$work/b.db"
is "merge" "$code" 0
ok "… counts forged rows as damage" grep -q "b.db' is damaged" <<<"$words"
is "… and takes the other rows" "$(ask "$work/m.db" "SELECT group_concat(path || value) FROM result")" "$(ask "$work/kept.db" "SELECT group_concat(path || value) FROM result")"
try "$satin" resume "$work/m.db"
is "the merged file is resumed" "$code:$answer:$words" "0:256:"
elsewhere "$satin" merge "$work/m2.db" "$work/a.db" "$work/a.db"
is "another user cannot" "$code" 3
elsewhere "$satin" merge --trust "$work/m2.db" "$work/a.db" "$work/a.db"
is "unless --trust is given" "$code" 0

# The next master has the run's tokens but not the key: all nodes of the run may write proofs.
rm -f "$file"
begin "$satin" run --name heirs -n 3 -w 1 --checkpoint "$file" --interval 0.1 -- "$naps" 8 60
wait_for $((20 * slow)) has_rows "$file" 3
mv "$key" "$work/key"
kill -9 "$(our_nodes | sort -n | head -n 1)" 2>/dev/null
ended
mv "$work/key" "$key"
is "a run whose key is gone and whose master dies ends well" "$code:$answer" "0:256"
try "$satin" inspect "$file"
ok "and its file has proofs" grep -q "^proof     yours" <<<"$answer"
finish

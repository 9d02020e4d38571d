#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# satin replay: runs one job of a checkpoint again, alone, and compares the result; the checkpoint is not changed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
trap 'stop_servers; leave' EXIT
e2e=$(realpath "$SATIN_BIN/../tests/e2e")
builds=$e2e/builds-one
file=$work/c.db
mkdir "$work/tmp"
export TMPDIR=$work/tmp

sql () { sqlite3 "file:$1?mode=ro" "$2"; }
replay () { try "$satin" replay "$@"; }
has () { grep -q -- "$1" <<<"$answer"; }
says () { grep -q -- "$1" <<<"$words"; }
one_sentence () { one_line && says '^satin: '; }
sum_of () { sha256sum <"$1"; }
nothing_left () { [ -z "$(ls -A "$work/tmp")" ]; }
is_same () { is "$1: exit code" "$code" 0; ok "$1: the result is the saved one" has '^verdict   the same as the saved one$'; }

# A suspended run: rows of all sizes, and missing jobs.
begin "$satin" run --name base -w 2 --checkpoint "$file" --interval 0.1 -- "$builds" 10 20
ok "rows are saved" wait_for $((20 * slow)) has_rows "$file" 5
"$satin" suspend base 2>/dev/null
ended
is "a run is suspended" "$code" 75
before=$(sum_of "$file")
export NAPS_HASTE=$work/haste
: >"$NAPS_HASTE"
saved=$(sql "$file" 'SELECT path FROM result ORDER BY length (path), path LIMIT 1')
replay "$file" "$saved"
is_same "a saved job"
ok "… its name and arguments are shown" has "^job       $saved, branch ([0-9]*, 20)$"
ok "… the saved result, too" has '^saved     [0-9]* (node 1\.[0-9], [0-9.]* s of work)$'
ok "… a message says when it begins" says "^satin: the job at $saved runs: branch ([0-9]*, 20)$"
for deep in $(sql "$file" 'SELECT path FROM result ORDER BY path DESC LIMIT 3'); do
  replay "$file" "$deep"
  is_same "the job at $deep"
done
replay "$file" /
is "a job that is not finished: exit code" "$code" 0
ok "… its result is shown" has '^result    1024$'
ok "… there is nothing to compare with" has '^verdict   there is nothing to compare with$'
replay "$file" /1/1/1/1/1/1/1/0/1/0
is "a leaf: exit code" "$code" 0
ok "… its result" has '^result    1$'

# Paths.
for path in /0/9999 /9999/1 3:/0; do
  replay "$file" $path
  is "a job that the checkpoint does not show: exit code" "$code:$answer" "2:"
  ok "… one message, at once" one_sentence
  ok "… which says what to do" says "^satin: nothing in the checkpoint tells of a job at '$path': .*; --anyway computes what is missing above it, and looks$"
done
replay "$file" /0/7 --anyway
is "a job that is never spawned: exit code" "$code:$answer" "2:"
ok "… the message says so" says "^satin: there is no job at '/0/7': a job above it has ended and did not spawn child 7$"
replay "$file" 3:/0 --anyway
is "a root that main does not ask for" "$code:$answer" "2:1024"
ok "… the message says so" says "^satin: there is no job at '3:/0': main has ended with exit code 0 and did not ask for it$"
for path in 0/3 x /0/ /01 '~0123456789abcdef/0' '~x'; do
  replay "$file" "$path"
  is "'$path' is no path: exit code" "$code:$answer" "2:"
  ok "… one message" one_sentence
done
replay "$work/none.db" /0
is "no checkpoint" "$code:$words" "4:satin: there is no checkpoint at '$work/none.db'"
for line in "$file" "$file /0 /1" "$file /0 --whole" "$file /0 --nonsense"; do
  # shellcheck disable=SC2086
  replay $line
  is "'${line#"$work/"}' is wrong usage" "$code:$answer" "2:"
done

# Commands before the program.
replay "$file" "$saved" -- env X=1
is_same "after env"
replay "$file" "$saved" -- no-such-thing
is "after an unknown command" "$code:$words" \
  "1:satin: cannot run 'no-such-thing': there is no such program in PATH (a path needs a '/', like ./prog)"
if [ -z "${SATIN_SANITIZED-}" ] && [ "$(gdb --batch -ex run -ex 'print 40 + 2' --args true 2>/dev/null | tail -n 1)" = '$1 = 42' ]; then
  replay "$file" "$saved" -- gdb --batch -ex 'set breakpoint pending on' -ex 'break replay_begins' -ex run \
    -ex 'print (char *) job->name' -ex continue --args
  ok "after gdb: it stops where the job begins" has '^\$1 = 0x[0-9a-f]* "branch"$'
  ok "… and goes on to its end" has '^verdict   the same as the saved one$'
else
  skip "after gdb" "gdb is not here, or may not trace"
fi
if is_long && [ -z "${SATIN_SANITIZED-}" ] && command -v valgrind >/dev/null; then
  replay "$file" "$saved" -- valgrind -q --error-exitcode=99
  is_same "after valgrind"
else
  skip "after valgrind" "valgrind is not here, or this is not make check-long: it takes a minute to begin"
fi

# The file of another user: a program that only the file names is not started.
elsewhere () { try env XDG_CONFIG_HOME="$work/another" "$satin" "$@"; }
elsewhere replay "$file" "$saved"
is "another user: exit code" "$code:$answer" "3:"
ok "… one message" one_sentence
line=$(sed -n 's/.* say: satin //p' <<<"$words")
is "… has the command to type" "$line" "replay --trust $file $saved --whole -- $builds 10 20"
# shellcheck disable=SC2086
elsewhere $line
is_same "… that command"
elsewhere replay "$file" "$saved" --whole -- "$builds" 10 20
is "… without trust" "$code:$answer" "3:"
elsewhere replay "$file" "$saved" --trust --whole -- env X=1 "$builds" 10 20
is_same "… after env"
replay "$file" "$saved" --whole -- "$builds" 10 21
is "other arguments are another run" "$code:$answer" "3:"

# Another build gives another result.
replay "$file" "$saved" --whole -- "$e2e/builds-two" 10 20
is "another build: exit code" "$code:$answer" "3:"
ok "… --mended is named" says --mended
replay "$file" "$saved" --mended --whole -- "$e2e/builds-two" 10 20
is "a wrong result: exit code" "$code" 1
ok "… the verdict says so" has '^verdict   not the same as the saved one: byte 0 of 8 is the first that differs$'

# A share of all saved results.
all=$(rows "$file")
replay "$file" --verify 1
is "all saved results are the same" "$code:$answer" "0:$all of $all saved results were computed again and are the same"
half=$(for path in $(sql "$file" 'SELECT path FROM result'); do printf %s "$path" | sha256sum; done | grep -c '^[0-7]')
replay "$file" --verify 0.5 -- env X=1
is "half of them are chosen by their paths" "$code:$answer" "0:$half of $all saved results were computed again and are the same"
replay "$file" --verify 1 --mended --whole -- "$e2e/builds-two" 10 20
is "a wrong result: --verify: exit code" "$code" 1
ok "… the job is shown" has '^job       /'
ok "… its node and the saved result, too" has '^saved     [0-9]* (node 1\.[0-9], '
ok "… and nothing after it" [ "$(wc -l <<<"$answer")" -eq 5 ]
for share in 0 2 x '' nan; do
  replay "$file" --verify "$share"
  is "'$share' is no share" "$code:$answer" "2:"
  ok "… one message" one_sentence
done
replay "$file" /0 --verify 1
is "a path and a share" "$code:$answer" "2:"

is "the file is unchanged" "$(sum_of "$file")" "$before"
is "there is no other file beside it" "$(cd "$work" && echo c.db*)" c.db
ok "no folder is left" nothing_left
chmod 400 "$file"
mkdir "$work/ro" && cp -p "$file" "$work/ro/c.db" && chmod 500 "$work/ro"
replay "$work/ro/c.db" "$saved"
is_same "a read-only file"
chmod 700 "$work/ro"
replay "file://$file" "$saved"
is_same "a URI"
mkdir "$work/store"
if start_sftp "$work/store"; then
  cp "$file" "$work/store/files/c.db"
  HOME=$work/store/home replay "$uri/c.db" "$saved"
  is_same "at a store"
else
  skip "at a store" "$why"
fi
ok "no folder is left" nothing_left

# A damaged file: the proofs of its other rows are still right.
chmod 600 "$file"
cp "$file" "$work/damaged.db"
other=$(sql "$file" "SELECT path FROM result WHERE path <> '$saved' LIMIT 1")
sqlite3 "$work/damaged.db" "UPDATE result SET value = X'0000000000000000' WHERE path = '$other'"
before=$(sum_of "$work/damaged.db")
replay "$work/damaged.db" "$saved"
is_same "a damaged file"
replay "$work/damaged.db" "$other"
is "a damaged row: exit code" "$code" 0
ok "… counts as missing" has '^verdict   there is nothing to compare with$'
replay "$work/damaged.db" --verify 1
is "all of its rows: exit code" "$code" 0
ok "… the damaged one is not among them" has "^$((all - 1)) of "
is "… the file is unchanged" "$(sum_of "$work/damaged.db")" "$before"
is "… and there is no other file beside it" "$(cd "$work" && echo damaged.db*)" damaged.db

# A replay while the run goes on.
rm "$NAPS_HASTE"
begin env NAPS_HASTE="$work/later" "$satin" run -n 2 -w 1 --name live --checkpoint "$work/live.db" --interval 0.1 -- "$builds" 8 50
ok "a run goes on" wait_for $((20 * slow)) has_rows "$work/live.db" 3
: >"$NAPS_HASTE"
replay "$work/live.db" /0/1/1
is "a replay during the run" "$code" 0
ok "… gives the result" has '^result    32$'
: >"$work/later"
ended
is "… and the run ends" "$code:$answer" "0:256"
replay "$work/live.db" /0/1/1
is "of a finished run" "$code" 0
ok "… the output says that its root is saved" has '^saved     nothing of this job: / is finished, and its result stands for it '
replay "$work/live.db" /
is_same "its root"

# Jobs that fail.
path=/0/1/1/0/0/0/0/1/0/0/1
for how in segv fail; do
  [ "$how" = fail ] || [ -z "${SATIN_SANITIZED-}" ] || continue # the sanitizer handles that signal
  rm -f "$work/bomb.db"
  begin env BOMB_GO="$work/never" "$e2e/bomb" --checkpoint "$work/bomb.db" --interval 0.1 --workers 2 "$how" 777 20 11
  ok "$how: rows are saved" wait_for $((20 * slow)) has_rows "$work/bomb.db" 3
  kill -9 "$begun"
  ended
  BOMB_GO=$work replay "$work/bomb.db" $path
  is "$how: exit code" "$code:$answer" "6:"
  ok "… a message said when it began" says "^satin: the job at $path runs: bomb (0, 777, 777,"
  ok "… path and arguments are named" says "^satin: a job failed: .*the job at $path, bomb (0, 777, 777,\|^satin: .*the job at $path, bomb (0, 777, 777,"
  BOMB_MENDED=1 BOMB_GO=$work replay "$work/bomb.db" $path
  is "… the mended program: exit code" "$code" 0
  ok "… has a result" has '^result    1$'
done

ok "no folder is left" nothing_left

# Several roots: the saved results of earlier roots are used.
mkdir "$work/roots"
try "$e2e/roots" 4 "$work/roots" --checkpoint "$work/roots.db"
is "a program of four roots" "$code" 0
rm "$work/roots"/ran.*
replay "$work/roots.db" 2:/3
is "a job of the third root: exit code" "$code" 0
ok "… 2: is saved above it" has '^saved     nothing of this job: 2: is finished'
is "… no other job ran" "$(cat "$work/roots"/ran.* | wc -c)" 1
replay "$work/roots.db" 2:
is_same "the third root"
replay "$work/roots.db" 2:/99
is "a job that it does not have" "$code" 2

# A deep job, by a path with a stem and by a path of numbers only.
begin "$e2e/shapes" --workers 2 --checkpoint "$work/deep.db" --interval 0.1 comb 100000 2500
deep_rows () { [ -n "$(sql "$work/deep.db" "SELECT 1 FROM result WHERE path > '~' LIMIT 1" 2>/dev/null)" ]; }
ok "deep rows are saved" wait_for $((30 * slow)) deep_rows
kill -9 "$begun"
ended
deep=$(sql "$work/deep.db" "SELECT path FROM result WHERE path > '~' ORDER BY path LIMIT 1")
replay "$work/deep.db" "$deep"
is_same "a job below a stem"
spine=$(printf '/1%.0s' {1..150})
replay "$work/deep.db" "$spine/0"
is "a deep job by numbers only" "$code" 0
ok "… is named by its stem" has '^job       ~[0-9a-f]\{16\}/'

# Phases: a kept state is used, unless it was kept after the job.
begin "$e2e/phases" --checkpoint "$work/phases.db" --interval 0.1 --workers 2 1 100000000 800
has_kept () { [ "$(sql "$work/phases.db" 'SELECT max (children) FROM keep' 2>/dev/null)" -gt 1000 ] 2>/dev/null; }
ok "phases are kept" wait_for $((20 * slow)) has_kept
kill -9 "$begun"
ended
kept=$(sql "$work/phases.db" 'SELECT max (children) FROM keep')
replay "$work/phases.db" "/0/$((kept + 5))"
is "a job of a later phase: exit code" "$code" 0
ok "… the phases before it begin at the kept state" says "depends on children $kept to $((kept + 1)) of a job above it"
replay "$work/phases.db" /0/7
is "a job of an earlier phase: exit code" "$code" 0
ok "… the phases before it begin at the start" says 'depends on children 0 to 1 of a job above it'
ok "… the kept state stands for it" has '^saved     nothing of this job: the state that /0 has kept stands for it$'

# A program with its own main.
mkdir "$work/embed"
try "$e2e/embed" "$work/embed" --checkpoint "$work/embed.db"
is "a program with its own main" "$code" 0
replay "$work/embed.db" 1:
is_same "… its second root"
replay "$work/embed.db" 9: --anyway
is "… a root that it does not ask for" "$code" 2
ok "… the message says so" says "^satin: there is no job at '9:': main has ended"

# Interrupted.
rm "$NAPS_HASTE"
begin "$satin" replay "$file" /
ok "a replay goes on" wait_for $((20 * slow)) grep -q 'runs: branch' "$work/begun.words"
kill -TERM "$begun"
ended
is "SIGTERM ends it" "$code" $((128 + 15))
ok "no folder is left" nothing_left
finish

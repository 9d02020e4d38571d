#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The program that compares golden transcripts (tests/sim/scenarios): a changed line fails, --write repairs it, and a wrong
# command gets one clear message.
set -u
program=$SATIN_BIN/../tests/sim/scenarios
folder=$(mktemp -d "${TMPDIR:-/tmp}/satin-scenarios-XXXXXX")
trap 'rm -rf "$folder"' EXIT
. "$SATIN_SOURCE/tests/tap.sh"
file=$folder/story.txt stored=$SATIN_SOURCE/tests/scenarios/crash-of-a-lender.txt
fresh () { cat "$stored" >"$file"; }
# Prints the lines of the program that show a difference or a result, and its exit code.
compare () { "$program" "$@" "$file" | grep -E '^# [-+][^-+]|^(not )?ok'; echo "code ${PIPESTATUS[0]}"; }

fresh
is "a stored transcript is the same again" "$(compare)" "ok 1 - story.txt
code 0"

line=$(grep -n -m1 -- '-> 1.1  HOLD ' "$file" | cut -d: -f1)
is "the transcript has a line to change" "${line:+yes}" yes
old=$(sed -n "${line}p" "$file")
sed -i "${line}s,HOLD,UNHOLD," "$file"
changed=$(cat "$file")
is "a changed line fails and is shown" "$(compare)" "# -${old/HOLD/UNHOLD}
# +$old
not ok 1 - story.txt
code 1"
is "a comparison changes nothing" "$(cat "$file")" "$changed"
is "--write shows the difference" "$(compare --write)" "# -${old/HOLD/UNHOLD}
# +$old
ok 1 - story.txt
code 0"
is "--write has repaired it" "$(cat "$file")" "$(cat "$stored")"

fresh
sed -i "${line}d" "$file"
is "a missing line fails and is shown" "$(compare)" "# +$old
not ok 1 - story.txt
code 1"

fresh
sed -i '/^crash 1.2/d' "$file"
is "a transcript without its fault fails" "$(compare | tail -n 1)" "code 1"

# refuse NAME TEXT WANTED: TEXT gets the message WANTED, and the file is not overwritten.
refuse ()
{
  printf '%b' "$2" >"$file"
  is "$1" "$("$program" --write "$file" | grep '^# '; cat "$file")" "# story.txt:$3
$(printf '%b' "$2")"
}
refuse "an unknown command" 'cluster 2\nfly 1.2\n----\n' "2: there is no command 'fly 1.2'"
refuse "an unknown setting" 'cluster 2 colour=red\n----\n' "1: there is no setting 'colour'"
refuse "a bad time" 'cluster 2 leaf=soon\n----\n' "1: 'soon' is no time such as 20ms, at most 3600 of a unit"
refuse "an unknown word" 'hide pong\n----\n' "1: no line is called 'pong'"
refuse "no end" 'cluster 2\n----\n' "3: the last command is not 'run to the end'"
refuse "no rule" 'run to the end\n' "2: the last commands have no line '----' after them"
refuse "a line that never comes" 'run until 1.9 begins\nrun to the end\n----\n' \
  "1: the run ended before '1.9 begins' was said"
refuse "a node that is not there" 'run until 1.1 begins\ncrash 1.9\nrun to the end\n----\n' \
  "2: no process '1.9' lives then"
refuse "a fault without a node" 'crash\nrun to the end\n----\n' "1: 'crash' needs the name of a node"

finish

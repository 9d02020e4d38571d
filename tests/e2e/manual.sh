#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages are well formed, and their statements about the checkpoint and the command are true. The queries of
# satin-checkpoint(5) are taken from the page and run.
. "$(dirname "$0")/lib.sh"
if ! command -v sqlite3 >/dev/null 2>&1; then
  echo "1..0 # SKIP there is no sqlite3"
  exit 0
fi
plain () { sed 's/\\(aq/'"'"'/g; s/\\-/-/g; s/\\e/\\/g' "$@"; } # a line as the reader sees it

for file in "$SATIN_SOURCE"/storage/*.[1-9] "$SATIN_SOURCE"/satin/*.[1-9] "$SATIN_SOURCE"/satin/command/*.[1-9]; do
  [ -e "$file" ] || continue
  if command -v mandoc >/dev/null 2>&1; then
    # Ignores which other pages are installed here. mandoc shortens a long list of them (...).
    is "${file##*/} is clean for mandoc" \
      "$(mandoc -Tlint "$file" 2>/dev/null | grep -v -e 'referenced manual not found' -e 'outdated mandoc.db' \
        -e '^\.\.\.$' -e 'longer than 80 bytes' -e 'possible typo in section name')" ""
  elif command -v man >/dev/null 2>&1 && command -v groff >/dev/null 2>&1; then
    is "${file##*/} is clean for man" "$(man --warnings -l "$file" 2>&1 >/dev/null)" ""
  else
    skip "${file##*/} is clean" "there is neither mandoc nor man with groff"
  fi
done

# satin(1) has all verbs, options and exit codes that the command's help has.
page=$SATIN_SOURCE/satin/command/satin.1
"$satin" help | sed -n 's/^  satin \([a-z]*\) .*/\1/p' >"$work/verbs"
ok "there are verbs" [ "$(wc -l <"$work/verbs")" -ge 8 ]
while read -r verb; do
  ok "satin(1) has $verb" grep -qE "^\\.It Cm $verb( |\$)" "$page"
  case $verb in version | help) continue ;; esac
  while read -r option; do
    [ "$option" = help ] || ok "satin(1) has --$option of $verb" grep -qE "^\\.It (Fl [a-z] , )?Fl Fl $option( |\$)" "$page"
  done < <("$satin" "$verb" --help | grep -oE '^  (-[a-z], )?--[a-z-]+' | sed 's/.*--//')
done <"$work/verbs"
for exit in $("$satin" help | sed -n '/Exit codes/,$p' | grep -oE '\<[0-9]+\>'); do
  ok "satin(1) has exit code $exit" grep -qx ".It $exit" "$page"
done

# satin(7) has every word of satin.h, the macros of satin.hpp, and every option of a program. Its examples compile and run.
page=$SATIN_SOURCE/satin/satin.7
grep -oE '^(#define |[A-Za-z][A-Za-z ]*[ *])(satin|SATIN)_[A-Za-z_]*[A-Za-z]\>' "$SATIN_SOURCE"/satin/satin.h{,pp} | sed 's/.*[ *]//' | sort -u >"$work/words.h"
ok "there are words" [ "$(wc -l <"$work/words.h")" -ge 20 ]
while read -r word; do
  ok "satin(7) has $word" grep -qE "Ic $word( |\$)" "$page"
done <"$work/words.h"
while read -r option; do
  ok "satin(7) has --$option" grep -qE "^\\.It (Fl [a-z] , )?Fl Fl $option( |\$)" "$page"
done < <("$SATIN_BIN/fib" --help | grep -oE '^ +(-[a-z], )?--[a-z-]+' | sed 's/.*--//')
{
  echo '#include <satin.h>'
  plain "$page" | sed -n '/^SATIN_JOB/,/^SATIN_APP/p'
} >"$work/fib.c"
needs=$(sed -n 's/^Requires: //p' "$SATIN_SOURCE/satin.pc.in")
# shellcheck disable=SC2086
if command -v cc >/dev/null 2>&1 && pkg-config --exists $needs 2>/dev/null && [ -z "${SATIN_SANITIZED-}" ]; then
  # shellcheck disable=SC2046,SC2086
  try cc -Wall -Werror -O2 -o "$work/fib" -I"$SATIN_SOURCE/satin" -I"$SATIN_SOURCE/satin/value" "$work/fib.c" \
    "$SATIN_BIN/../satin/libsatin.a" $(pkg-config --cflags --libs $needs) -pthread -lm
  is "the example of satin(7) compiles" "$words" ""
  try "$work/fib" 20
  is "and computes" "$answer" 6765
  {
    echo '#include <satin.h>'
    plain "$page" | sed -n '/^SATIN_JOB/,/^}/p'
    plain "$page" | sed -n '/^\.Sh A MAIN OF ITS OWN/,/^\.Ed/p' | sed -n '/^\.Bd/,/^\.Ed/p' | sed '/^\./d'
  } >"$work/own.c"
  # shellcheck disable=SC2046,SC2086
  try cc -Wall -Werror -O2 -o "$work/own" -I"$SATIN_SOURCE/satin" -I"$SATIN_SOURCE/satin/value" "$work/own.c" \
    "$SATIN_BIN/../satin/libsatin.a" $(pkg-config --cflags --libs $needs) -pthread -lm
  is "the main of its own of satin(7) compiles" "$words" ""
  try "$work/own" -w 2
  is "and computes" "$code:$answer" "0:102334155"
else
  skip "the example of satin(7) computes" "no compiler, or a sanitizer's library"
fi

# satin-checkpoint(5).
page=$SATIN_SOURCE/storage/satin-checkpoint.5
# Makes a checkpoint that has an answer to every query: killed, taken over, suspended.
c=$work/c.db
cp "$(instance kroA100.tsp)" "$work/a.tsp"
cd "$work" || exit 1
begin "$SATIN_BIN/tsp" a.tsp --checkpoint c.db --interval 0.1
ok "a tour has rows" wait_for $((30 * slow)) has_rows "$c" 3
kill -9 "$begun"
ended
begin "$SATIN_BIN/tsp" a.tsp --checkpoint c.db --interval 0.1
ok "the take-over is in the ledger" wait_for $((30 * slow)) \
  sh -c "sqlite3 c.db 'SELECT kind FROM event' | grep -q 'taken over'"
kill -TERM "$begun"
ended
is "the run is suspended" "$code" 75

sqlite3 c.db "SELECT m.name || ' (' || group_concat (c.name, ', ') || ')' FROM sqlite_schema AS m,
  pragma_table_info (m.name) AS c WHERE m.type = 'table' GROUP BY m.name" >"$work/columns"
ok "there are tables" [ "$(wc -l <"$work/columns")" -ge 8 ]
while read -r line; do
  ok "the page has the table $line" grep -qxF ".It $line" "$page"
done <"$work/columns"
while read -r line; do
  ok "the page has the view $line" grep -qxF ".It $line" "$page"
done < <(sqlite3 c.db "SELECT name FROM sqlite_schema WHERE type = 'view'")
while read -r line; do
  ok "the page has the text of ${line%% AS*}" grep -qF "$line" <(plain "$page" | tr '\n' ' ')
done < <(sqlite3 c.db "SELECT sql FROM sqlite_schema WHERE type = 'view'")
while read -r key; do
  ok "the page has the key $key of run" grep -qE "^\\.Ql $key( |\$)" "$page"
done < <(sqlite3 c.db "SELECT key FROM run")

# The page's queries use /0/3 and the paths around it. Here a path that is really saved takes its place.
saved=$(sqlite3 c.db "SELECT path FROM result ORDER BY length (path) DESC LIMIT 1")
above=${saved%/*}
asked=0
while read -r question; do
  asked=$((asked + 1))
  question=$(sed "s,/0/3,$saved,g; s,'/00','${above}0',g; s,'/0/','$above/',g; s,'/0','$above',g" <<<"$question")
  try sh -c "$question"
  is "query $asked succeeds" "$code" 0
  is "query $asked has no errors" "$words" ""
  ok "query $asked has an answer: $question" [ -n "$answer" ]
  printf '%s\n' "$answer" >"$work/question-$asked"
done < <(plain "$page" | grep '^sqlite3 ')
ok "there are at least twenty queries" [ "$asked" -ge 20 ]
of () { cat "$work/question-$(plain "$page" | grep '^sqlite3 ' | grep -nF "$1" | head -n 1 | cut -d: -f1)"; }
is "progress counts the results" "$(of progress | cut -d'|' -f4)" "$(rows c.db)"
is "the program is named" "$(of "'argv'" | grep -c -e '^app|tsp$' -e "^argv|\\[b'a.tsp'\\]\$")" 2
is "a saved job is shown" "$(of "path = '/0/3'" | cut -d'|' -f1,2)" "$saved|search"
is "its arguments are shown" "$(of "'long'")" "$(sqlite3 c.db "SELECT 'search|' || ifnull (args, 'long') FROM result WHERE path = '$saved'")"
is "when it began, and how long it took" "$(of 'began_utc, took_s FROM')" \
  "$(sqlite3 c.db "SELECT datetime (began, 'unixepoch'), took_ms / 1000.0 FROM result WHERE path = '$saved'")"
is "the longest comes first" "$(of 'ORDER BY took_s' | head -n 1 | cut -d'|' -f4)" "$(sqlite3 c.db 'SELECT max (took_ms) / 1000.0 FROM result')"
is "the result that contains a job is found" "$(of "'/0/3/1/'" | cut -d'|' -f1)" "$saved"
is "work is added up below a job" "$(of total | cut -d'|' -f1)" \
  "$(sqlite3 c.db 'SELECT path FROM result' | grep -c -e "^$above\$" -e "^$above/")"
is "the history ends with the last publication" "$(of 'utc, done FROM history' | wc -l)" \
  "$(sqlite3 c.db "SELECT count (*) FROM event WHERE kind = 'published'")"
ok "rows have a depth" [ "$(of 'GROUP BY depth' | awk -F'|' '{ n += $2 } END { print n }')" = "$(rows c.db)" ]
is "jobs join by number" "$(of 'GROUP BY job.n' | cut -d'|' -f1,3)" "search|$(rows c.db)"
is "nodes join by number" "$(of 'GROUP BY host' | cut -d'|' -f2)" "$(rows c.db)"
is "there are no kept states" "$(of 'FROM keep UNION')" "states in all||0"
# A program with phases, suspended while two lanes run.
phases=$SATIN_BIN/../tests/e2e/phases
begin "$phases" --checkpoint p.db --interval 0.1 --workers 2 2 1000000 8000
ok "two lanes keep states" wait_for $((30 * slow)) sh -c "[ \"\$(sqlite3 p.db 'SELECT count (*) FROM keep')\" = 2 ]"
kill -TERM "$begun"
ended
is "the lanes are suspended" "$code" 75
try sh -c "$(plain "$page" | grep '^sqlite3 .*FROM keep UNION' | sed 's/c\.db/p.db/')"
is "the arguments of unfinished jobs are shown" "$(cut -d'|' -f1,2 <<<"$answer" | tr '\n' ' ')" \
  "/0|[0,1000000,8000] /1|[1,1000000,8000] states in all| "
try "$satin" inspect p.db --why /1
ok "inspect --why shows them" grep -qxF "args      [1,1000000,8000]" <<<"$answer"
try "$satin" inspect p.db --json
ok "inspect --json, too" grep -qF '"args":"[1,1000000,8000]"' <<<"$answer"
# In that instance the first tour is the best; in this one a better one is found.
cp "$(instance random44.atsp)" "$work/b.tsp"
try "$SATIN_BIN/tsp" b.tsp --checkpoint b.db
try sh -c "$(plain "$page" | grep '^sqlite3 .*j.value' | sed 's/c\.db/b.db/')"
is "the best tour begins with ten cities" "$(tr -cd '|,0-9' <<<"$answer" | awk -F'[|,]' '{ for (i = 2; i <= NF; i++) n += !seen[$i]++ && $i < 44; print $1, NF, n }')" "10 11 10"
ok "the input comes back byte for byte" cmp -s a.tsp input_a.tsp
finish

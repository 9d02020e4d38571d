#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Follows docs/tutorial word by word: writes its files, runs its commands, and compares their output with the page. Also checks
# that the options, verbs and exit codes in docs/tutorial and docs/troubleshooting exist.
. "$(dirname "$0")/lib.sh"
needs=$(sed -n 's/^Requires: //p' "$SATIN_SOURCE/satin.pc.in")
# shellcheck disable=SC2086
if [ -n "${SATIN_SANITIZED-}" ] || ! command -v cc >/dev/null 2>&1 || ! pkg-config --exists $needs 2>/dev/null; then
  echo "1..0 # SKIP there is no compiler for it"
  exit 0
fi
# Makes satin and its pkg-config file look installed.
mkdir "$work/bin" "$work/here"
ln -s "$satin" "$work/bin/satin"
# shellcheck disable=SC2086
flags="-I$SATIN_SOURCE/satin -I$SATIN_SOURCE/satin/value $(readlink -f "$SATIN_BIN/../satin/libsatin.a") $(pkg-config --cflags --libs $needs) -pthread -lm"
printf '#!/bin/sh\n[ "$*" = "--cflags --libs satin" ] && echo "%s"\n' "$flags" >"$work/bin/pkg-config"
chmod +x "$work/bin/pkg-config"
PATH=$work/bin:$PATH
cd "$work/here" || exit 1

# PAGE: writes each indented block to a file block-N, in order. A block may contain empty lines.
cut_blocks ()
{
  awk '/^    / { if (!inside) { n++; inside = 1 }; for (; blanks > 0; blanks--) print "" >name; name = sprintf ("block-%03d", n); print substr ($0, 5) >name; next }
    /^$/ { if (inside) blanks++; next }
    { inside = 0; blanks = 0 }' "$1"
}

run_commands () # FILE: runs its lines that begin with $; the lines after each, up to the next, are its expected output
{
  local line command='' wanted=''
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      '$ '*) try_command "$command" "$wanted"; command=${line#'$ '} wanted='' ;;
      ?*) wanted+=${wanted:+$'\n'}$line ;;
    esac
  done <"$1"
  try_command "$command" "$wanted"
}

commands=0
try_command () # COMMAND WANTED
{
  [ -n "$1" ] || return
  commands=$((commands + 1))
  try bash -c "$1"
  is "$1" "$answer${answer:+${words:+
}}$words" "$2"
}

cut_blocks "$SATIN_SOURCE/docs/tutorial"
files=0
for block in block-*; do
  read -r first second _ <"$block"
  case $first in
    '/*' | '#')
      # A command inside a file's block would not be run.
      is "$second is a file only" "$(grep '^\$ ' "$block")" ""
      cp "$block" "$second" && files=$((files + 1))
      ;;
    '$') run_commands "$block" ;;
    *) is "this block is a file or commands" "$(cat "$block")" "" ;;
  esac
done
is "files are shown" "$((files >= 3))" 1
is "commands are shown" "$((commands >= 13))" 1

# The options, verbs and exit codes in the pages.
for page in tutorial troubleshooting; do
  while read -r option; do
    ok "$page: --$option is an option" grep -qE -- "Fl Fl (${option})( |\$)" "$SATIN_SOURCE/satin/command/satin.1" "$SATIN_SOURCE/satin/satin.7"
  done < <(sed 's/`[a-z-]*mpirun[^`]*`//g' "$SATIN_SOURCE/docs/$page" | grep -v -e 'mpirun --' -e 'srun --' -e 'pkg-config --' -e 'gdb --' | grep -oE -- '(^|[ (])--[a-z]+(-[a-z]+)*' | sed 's/.*--//' | sort -u)
  while read -r verb; do
    ok "$page: satin $verb is a verb" grep -q "^.It Cm $verb " "$SATIN_SOURCE/satin/command/satin.1"
  done < <(grep -oE '`satin [a-z]+' "$SATIN_SOURCE/docs/$page" | sed 's/.* //' | sort -u)
done
while read -r exit; do
  ok "troubleshooting: exit code $exit" grep -qx ".It $exit" "$SATIN_SOURCE/satin/command/satin.1"
done < <(sed -n 's/^Exit code \([0-9]*\):.*/\1/p' "$SATIN_SOURCE/docs/troubleshooting")

# make html.
if command -v mandoc >/dev/null 2>&1 && command -v perl >/dev/null 2>&1; then
  try bash "$SATIN_SOURCE/docs/make-html" "$SATIN_SOURCE" "$work/html"
  is "make html" "$code:$words" "0:"
  pages=("$work"/html/*.html)
  is "… thirteen pages" "${#pages[@]}" 13
  while read -r page link; do
    case $link in
      http*) ok "$page needs no network: $link" false ;;
      *) [ -e "$work/html/${link%%#*}" ] || is "$page: the target of this link exists" "$link" "" ;;
    esac
  done < <(cd "$work/html" && grep -oE '(href|src)="[^"#][^"]*"' ./*.html | sed 's,^\./\([^:]*\):[a-z]*="\(.*\)",\1 \2,')
  is "… the index names all others" "$(grep -oE 'href="[^"]*\.html"' "$work/html/index.html" | sort -u | wc -l)" 13
  is "… a code block is whole" "$(sed -n '/include &lt;satin.h&gt;/,/SATIN_APP/p' "$work/html/tutorial.html" | grep -c SATIN_JOB)" 2
else
  skip "make html" "there is no mandoc, or no perl"
fi
finish

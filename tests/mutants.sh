#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The list of planted bugs (tests/mutants/README) fits the source, and one that does not is named.
set -u
if ! command -v perl >/dev/null 2>&1; then
  echo "1..0 # SKIP there is no perl"
  exit 0
fi
tree=$(mktemp -d "${TMPDIR:-/tmp}/satin-mutants-XXXXXX")
trap 'rm -rf "$tree"' EXIT
. "$SATIN_SOURCE/tests/tap.sh"
is "each mutant is found once" "$(perl "$SATIN_SOURCE/tests/mutants/run" --check 2>&1)" ""

mkdir -p "$tree/tests/mutants" "$tree/storage"
cp "$SATIN_SOURCE/tests/mutants/run" "$tree/tests/mutants/"
printf '  a = 1;\n  b ();\n  c ();\n  b ();\n' >"$tree/storage/x.c"
# LINES of a mutant: what is said of it
said () { printf 'room storage test-x\nmutant storage/m storage/x.c\n%b' "$1" >"$tree/tests/mutants/list"; perl "$tree/tests/mutants/run" --check 2>&1; }
is "one line" "$(said '- a = 1;\n+ a = 2;\n')" ""
is "two lines, one dropped" "$(said '- b ();\n- c ();\n+ b ();\n')" ""
is "lines that are gone" "$(said '- a = 3;\n+ a = 2;\n')" "mutants: 'storage/m': its old lines are found 0 times in 'storage/x.c', not once"
is "lines that are there twice" "$(said '- b ();\n')" "mutants: 'storage/m': its old lines are found 2 times in 'storage/x.c', not once"
is "no lines" "$(said '+ a = 2;\n')" "mutants: 'storage/m': its old lines are found 0 times in 'storage/x.c', not once"
is "a word that means nothing" "$(said '! a\n' | sed 's,.*/tests,tests,')" "tests/mutants/list:3: cannot read '! a'"
finish

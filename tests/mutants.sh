#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks that each planted bug in tests/mutants/list fits the source, and that `tests/mutants/run --check` names one that does
# not.
set -u
if ! command -v perl >/dev/null 2>&1; then
  echo "1..0 # SKIP there is no perl"
  exit 0
fi
tree=$(mktemp -d "${TMPDIR:-/tmp}/satin-mutants-XXXXXX")
trap 'rm -rf "$tree"' EXIT
. "$SATIN_SOURCE/tests/tap.sh"
# A draw runs the tests of the mutant's room and no others.
without_room () {
  local test
  for test in "$SATIN_SOURCE"/tests/unit/test-*.c; do
    test=$(basename "$test" .c)
    grep -qE "^room .* $test( |\$)" "$SATIN_SOURCE/tests/mutants/list" || echo "$test"
  done
}
is "each unit test is one of its room's" "$(without_room)" ""
is "each mutant is found once" "$(perl "$SATIN_SOURCE/tests/mutants/run" --check 2>&1)" ""

mkdir -p "$tree/tests/mutants" "$tree/storage"
cp "$SATIN_SOURCE/tests/mutants/run" "$tree/tests/mutants/"
printf '  a = 1;\n  b ();\n  c ();\n  b ();\n' >"$tree/storage/x.c"
# said LINES: prints what --check reports of a mutant with these lines
said () { printf 'room storage test-x\nmutant storage/m storage/x.c\n%b' "$1" >"$tree/tests/mutants/list"; perl "$tree/tests/mutants/run" --check 2>&1; }
is "one line is replaced" "$(said '- a = 1;\n+ a = 2;\n')" ""
is "two lines are replaced by one" "$(said '- b ();\n- c ();\n+ b ();\n')" ""
is "lines that are not in the source" "$(said '- a = 3;\n+ a = 2;\n')" "mutants: 'storage/m': its old lines are found 0 times in 'storage/x.c', not once"
is "lines that are in the source twice" "$(said '- b ();\n')" "mutants: 'storage/m': its old lines are found 2 times in 'storage/x.c', not once"
is "no old lines" "$(said '+ a = 2;\n')" "mutants: 'storage/m': its old lines are found 0 times in 'storage/x.c', not once"
is "an unknown word" "$(said '! a\n' | sed 's,.*/tests,tests,')" "tests/mutants/list:3: cannot read '! a'"
finish

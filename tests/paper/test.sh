#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Which lists paper.sh accepts and which it refuses. The build folder is a fake one.
. "$(dirname "$0")/../tap.sh"
paper=$(cd "$(dirname "$0")" && pwd)/paper.sh
list=$(dirname "$paper")/list
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tests/unit" "$work/tests/sim"

cat >"$work/tests/unit/test-x" <<'END'
#!/bin/bash
[ "$1" = -l ] && printf '/x/good\n/x/bad\n' && exit
[ "$2" = /x/good ]
END
echo '/* T9-1 */' >"$work/tests/unit/test-x.c"
printf '#!/bin/bash\n[ "$1" = --good ]\n' >"$work/tests/sim/sim"
chmod +x "$work/tests/unit/test-x" "$work/tests/sim/sim"

# Runs paper.sh on these lines. Sets `code` to the exit code and `words` to the output.
try_list () # LINE…
{
  printf '%s\n' "$@" >"$work/list"
  words=$(cd "$work" && SATIN_SOURCE=$work bash "$paper" list 2>&1)
  code=$?
}

try_list '# a comment' '' 'T9-1 | It is so. | unit/test-x /x/good; sim --good'
is "tests that pass" "$code" 0
is "… are shown with their statement" "$(grep -c "^T9-1 *It is so" <<<"$words")" 1
try_list 'T9-1 | It is so. | unit/test-x /x/bad'
is "a test that fails" "$code" 1
try_list 'T9-1 | It is so. | sim --bad'
is "a simulation that fails" "$code" 1
try_list 'T9-1 | It is so. | unit/test-x /x/goo'
is "a test that is not there" "$code" 1
try_list 'T9-1 | It is so. | unit/test-y /x/good'
is "a program that is not there" "$code" 1
try_list 'T9-10 | It is so. | unit/test-x /x/good'
is "a test that does not cite the statement" "$code" 1
is "… is named" "$(grep -c "does not cite T9-10" <<<"$words")" 1
try_list 'T9-1 | It is so. |'
is "nothing that shows it" "$code" 1
try_list 'T9-1 | It is so. | none: for a reason' 'T9-2 | It is so. | open: not yet'
is "reasons" "$code" 0

# Every statement has one line.
wanted=$({ for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo "T0-$i"; done
  for i in 1 2 3a 3b 4 5 6 7 8 9 10; do echo "T1-$i"; done
  for i in 0 1 2 3 4 5 6 7; do echo "T2-$i"; done
  for i in 1 2 3 4 5 6; do echo "T3-$i"; done
  for i in 1 2 3 4 5 6 7 8; do echo "T4-$i"; done; } | sort)
is "each statement of the five papers has a line" "$(sed -n 's/^\(T[0-9a-z-]*\) |.*/\1/p' "$list" | sort)" "$wanted"
finish

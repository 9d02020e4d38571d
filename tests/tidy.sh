#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/tidy finds no new violation in this tree, and in a small tree it finds a planted violation of each of its rules.
set -u
tidy=$SATIN_SOURCE/tests/tidy
if ! command -v perl >/dev/null 2>&1; then
  echo "1..0 # SKIP there is no perl"
  exit 0
fi
tree=$(mktemp -d "${TMPDIR:-/tmp}/satin-tidy-XXXXXX")
trap 'rm -rf "$tree" "$tree-2" "$tree.log"' EXIT
. "$SATIN_SOURCE/tests/tap.sh"
is "this tree has nothing new" "$(perl "$tidy" "$SATIN_SOURCE")" ""

spdx='/* SPDX-License-Identifier: BSD-3-Clause */'
look () { perl "$tidy" "$tree" | cut -d: -f1-3; }
# planted NAME FILE TEXT WANTED: runs tests/tidy on a small tree without violations, with FILE added; TEXT is a format of
# printf.
planted ()
{
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/satin/value "$tree"/satin/engine/{deque,sched,tree} "$tree"/satin/link "$tree"/satin/folder "$tree"/satin/protocol/{members,work} "$tree"/storage "$tree"/tests/unit "$tree"/tests/e2e "$tree"/apps
  printf '%s\n#pragma once\nvoid wire_open (void);\n' "$spdx" >"$tree/satin/link/wire.h"
  printf '%s\n#pragma once\n' "$spdx" >"$tree/satin/value/path.h"
  printf '%s\n#pragma once\n' "$spdx" | tee "$tree"/satin/{protocol/members/roster.h,protocol/work/loans.h,engine/tree/known.h} >/dev/null
  printf '%s\n#pragma once\n#define FOLDER_FILE_END "end"\n' "$spdx" >"$tree/satin/folder/folder-names.h"
  printf '%s\n  { FOLDER_FILE_END, },\n' "$spdx" >"$tree/satin/folder/folder-names.c"
  touch "$tree"/tests/unit/test-{path,stack,stack-view,wire,folder-names}.c
  for test in "$tree"/tests/unit/*.c; do echo "$spdx" >"$test"; done
  printf '%b' "$3" >"$tree/$2"
  is "$1" "$(look)" "$4"
}
v=satin/value/path.c e=satin/engine/stack.c u=tests/unit/test-path.c s=tests/e2e/run.sh
planted "a sound file" $v "$spdx\n#include \"path.h\"\n\nint\npath_x (void)\n{\n  return 1;\n}\n" ""
planted "no licence" $v "int x;\n" "$v:1: licence"
planted "no #pragma once" satin/value/path.h "$spdx\n" "satin/value/path.h:1: once"
planted "no #pragma once in C++" satin/value/path.hpp "$spdx\n" "satin/value/path.hpp:1: once"
planted "a long line in C++" tests/e2e/x.cc "$spdx\n// $(printf 'é%.0s' {1..98})\n" "tests/e2e/x.cc:2: columns"
planted "a long file" $v "$spdx\n$(printf '\\n%.0s' {1..600})" "$v:600: length"
planted "a long function" $v "$spdx\nint\npath_x (void)\n{\n$(printf '\\n%.0s' {1..69})}\n" "$v:4: function"
planted "a long line" $v "$spdx\n// $(printf 'é%.0s' {1..98})\n" "$v:2: columns"
planted "a line of 100 characters" $v "$spdx\n// $(printf 'é%.0s' {1..97})\n" ""
planted "a forbidden call" $v "$spdx\nint\npath_x (void)\n{\n  strcpy (a, b);\n}\n" "$v:5: call"
planted "a goto" $v "$spdx\nint\npath_x (void)\n{\n  goto out;\n}\n" "$v:5: call"
planted "forbidden calls in comments and strings" $v "$spdx\n/* strcpy (a, b)\n * goto x; */\nint\npath_x (void)\n{\n  f (\"strcpy (a)\");\n}\n" ""
planted "the time in a pure room" $v "$spdx\nint\npath_x (void)\n{\n  return g_get_monotonic_time ();\n}\n" "$v:5: edge"
planted "the time in another room" $e "$spdx\nint\nstack_x (void)\n{\n  return g_get_monotonic_time ();\n}\n" ""
planted "a word that announces later work" $v "$spdx\n/* TO""DO: more */\n" "$v:2: todo"
planted "an include from a room above" $e "$spdx\n#include \"link/wire.h\"\n" "$e:2: floor"
p=satin/protocol
planted "an include from a layer above" $p/members/stack.c "$spdx\n#include \"../work/loans.h\"\n" "$p/members/stack.c:2: layer"
planted "an include from a layer of the engine above" satin/engine/deque/stack.c "$spdx\n#include \"../tree/known.h\"\n" "satin/engine/deque/stack.c:2: layer"
planted "an include from a layer at the same height" satin/engine/sched/stack.c "$spdx\n#include \"../tree/known.h\"\n" ""
planted "an include from a layer below" $p/work/stack.c "$spdx\n#include \"../members/roster.h\"\n" ""
planted "an include from a room below" satin/link/wire.c "$spdx\n#include \"wire.h\"\n#include \"path.h\"\n" ""
planted "a file name of the run's folder in quotes" satin/folder/stack.c "$spdx\nstatic void\nx (void)\n{\n  folder_bytes (path,\n                \"end\", NULL);\n}\n" "satin/folder/stack.c:6: name"
planted "a file name that is not in the table" satin/folder/folder-names.h "$spdx\n#pragma once\n#define FOLDER_NODE_LOG \"log\"\n" "satin/folder/folder-names.h:3: name"
planted "a function with the prefix of another file" $e "$spdx\nint\npath_x (void)\n{\n}\n" "$e:4: prefix"
planted "a static function with it" $e "$spdx\nstatic int\npath_x (void)\n{\n}\n" ""
planted "a function with half of its file's name as prefix" satin/engine/stack-view.c "$spdx\nint\nstack_x (void)\n{\n}\n" ""
planted "a source without tests" satin/engine/deque.c "$spdx\n" "satin/engine/deque.c:1: tested"
planted "a source that names its test" satin/engine/deque.c "$spdx\n/* Tests: test-stack. */\n" ""
planted "a source that names the path of its test" satin/engine/deque.c "$spdx\n/* Tests: tests/unit/test-stack.c. */\n" ""
enum='typedef enum\n{\n  PATH_A, /* default: */\n  PATH_B\n} PathKind;\n'
switch='\nstatic int\nx (PathKind kind)\n{\n  switch ((int)kind)\n    {\n    case PATH_A:\n      {\n        return 1;\n      }\n'
planted "a switch over an enum with a default" $v "$spdx\n$enum$switch    default:\n      return 2;\n    }\n}\n" "$v:17: default"
planted "a switch that lists all cases" $v "$spdx\n$enum$switch    case PATH_B:\n      return 2;\n    }\n}\n" ""
planted "a switch over an enum that states numbers" $v "$spdx\n${enum/PATH_B/PATH_B = 2}$switch    default:\n      return 2;\n    }\n}\n" ""
planted "a switch over an enum of a library" $v "$spdx\n${switch/PATH_A/CURLE_OK}    default:\n      return 2;\n    }\n}\n" ""
planted "a source that names a missing test" satin/engine/deque.c "$spdx\n/* Tests: test-none. */\n" "satin/engine/deque.c:1: tested"
planted "an assertion of wall time in a unit test" $u "$spdx\n  g_assert_cmpint (g_get_monotonic_time () - began, <, 5);\n" "$u:2: clock"
planted "an assertion of wall time in a script" $s "#!/bin/bash\n# SPDX-License-Identifier: BSD-3-Clause\nok soon [ \$SECONDS -le 4 ]\n" "$s:3: clock"
planted "a script without a licence" $s "#!/bin/bash\n" "$s:2: licence"
planted "a sentence with \"whoever\" as its subject" $v "$spdx\n/* Who""ever asks gets it. */\n" "$v:2: who"
planted "a question with it" $v "$spdx\n/* Who""ever asks? Both. */\n" ""
planted "a sentence in a page" satin/README "First. Who asks, gets it.\n" "satin/README:1: who"
planted "a README with 81 lines" storage/README "$(printf 'x\\n%.0s' {1..81})" "storage/README:81: readme"
planted "a README with 80 lines" storage/README "$(printf 'x\\n%.0s' {1..80})" ""
most="unit/test-stack unit/test-stack-view unit/test-wire unit/test-folder-names"
planted "a table that names all tests" tests/README "| x | $most unit/test-path |\n" ""
planted "a table that names a missing test" tests/README "| x | $most unit/test-path unit/test-none |\n" "tests/README:1: table"
planted "a table that leaves out a test" tests/README "| x | $most |\n" "tests/README:1: table"
planted "a table that names a test with a longer name" tests/README "| x | $most unit/test-path-x |\n" $'tests/README:1: table\ntests/README:1: table'

echo "who satin/README 1" >"$tree/tests/tidy-old"
printf 'Who asks, gets it.\n' >"$tree/satin/README"
rm "$tree/tests/README"
is "an old violation is not reported" "$(look)" ""
printf 'Who asks, gets it. Who asks twice, too.\n' >"$tree/satin/README"
is "one more violation in the same file is" "$(look)" $'satin/README:1: who\nsatin/README:1: who'
printf 'Nothing.\n' >"$tree/satin/README"
is "an old violation that is gone is reported" "$(look | cut -d: -f1)" "tests/tidy-old"
perl "$tidy" --update "$tree"
is "--update removes it from the list" "$(grep -v '^#' "$tree/tests/tidy-old"):$(look)" ":"
printf 'Who asks, gets it.\n' >"$tree/satin/README"
perl "$tidy" --update "$tree" >/dev/null
is "--update adds none" "$(look)" "satin/README:1: who"

if command -v git >/dev/null 2>&1; then
  rm -rf "${tree:?}"/*
  git -C "$tree" init -q
  commit () { git -C "$tree" -c user.name=x -c user.email=x@y commit -q --allow-empty -m "$1"; }
  commit "the base"
  base=$(git -C "$tree" rev-parse HEAD)
  sed "s/^my \$base = .*/my \$base = '$base';/" "$tidy" >"$tree/tidy"
  tidy=$tree/tidy
  commit "engine: return a loan to its lender"
  is "a correct subject" "$(perl "$tidy" "$tree" | cut -d: -f2)" ""
  commit "returned a loan"
  commit "engine: a full stop."
  commit "engine: $(printf 'x%.0s' {1..70})"
  commit "engine: who lends gets it back"
  is "four subjects with a violation" "$(perl "$tidy" "$tree" | cut -d: -f2 | sort | uniq -c | tr -s ' ')" " 4 subject"

  # A repository with the hooks, and a second worktree of it.
  rm -rf "$tree"
  git init -q "$tree"
  mkdir -p "$tree/tests" "$tree/satin/value"
  cp -r "$SATIN_SOURCE/tests/hooks" "$SATIN_SOURCE/tests/tidy" "$tree/tests"
  echo "$spdx" >"$tree/satin/value/path.h"
  echo '#pragma once' >>"$tree/satin/value/path.h"
  git -C "$tree" add .
  commit "the base"
  git -C "$tree" worktree add -q "$tree-2"
  sh "$tree/tests/hooks/install" "$tree-2" >"$tree.log" 2>&1
  is "the hooks are in git's folder" "$(cd "$tree/.git/hooks" && echo pre-commit commit-msg && ls | grep -vc sample)" $'pre-commit commit-msg\n2'
  tried () # NAME WORKTREE SUBJECT WANTED: the exit code of a commit there, and the number of violations that it reports
  {
    git -C "$2" -c user.name=x -c user.email=x@y commit -q --allow-empty -m "$3" >"$tree.log" 2>&1
    is "$1" "$?:$(grep -cE 'subject:|licence:' "$tree.log")" "$4"
  }
  for at in "$tree" "$tree-2"; do
    tried "a correct commit" "$at" "value: return a path" 0:0
    tried "a commit with a wrong subject" "$at" "returned a path" 1:1
    tried "a fixup" "$at" "fixup! value: return a path" 0:0
    echo 'int x;' >"$at/satin/value/path.h"
    tried "an unstaged violation does not count" "$at" "value: return nothing" 0:0
    git -C "$at" add .
    tried "a staged violation does" "$at" "value: return nothing" 1:1
    git -C "$at" reset -q --hard
  done
  sh "$tree/tests/hooks/install" --remove "$tree" >"$tree.log" 2>&1
  is "the hooks are removed" "$(ls "$tree/.git/hooks" | grep -vc sample)" 0
  echo mine >"$tree/.git/hooks/commit-msg"
  is "a hook of the user is not replaced" "$(sh "$tree/tests/hooks/install" "$tree" >/dev/null 2>&1; echo $?; ls "$tree/.git/hooks" | grep -v sample)" $'1\ncommit-msg'
  sh "$tree/tests/hooks/install" --remove "$tree" >"$tree.log" 2>&1
  is "nor removed with ours" "$(cat "$tree/.git/hooks/commit-msg")" mine
else
  count=$((count + 1))
  echo "ok $count - subjects and hooks # SKIP there is no git"
fi
finish

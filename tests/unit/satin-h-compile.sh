#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs with satin.h: the valid ones compile, in C and in C++. The invalid ones do not, and the message names the reason.
source=${SATIN_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
flags="-I$source/satin -I$source/satin/value $(pkg-config --cflags glib-2.0 gio-2.0)"
c="${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wconversion -Wpedantic -Wcast-align=strict -Wcast-qual -Werror -x c"
cxx="${CXX:-c++} -std=gnu++17 -O2 -Wall -Wextra -Werror -x c++"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# ccache keeps nothing of what a compiler refuses, and with it a compiler does not use the precompiled headers below.
export CCACHE_DISABLE=1
n=0

# All compilers read a precompiled satin.h: without it, reading the header took most of the time.
for language in c cxx; do
  mkdir "$folder/$language"
  cp "$source/satin/satin.h" "$folder/$language"
  ${!language% -Werror*} $flags -x ${language/xx/++}-header -o "$folder/$language/satin.h.gch" "$folder/$language/satin.h" 2>/dev/null
done
c="${c/ -Werror/ -I$folder/c -Werror}" cxx="${cxx/ -Werror/ -I$folder/cxx -Werror}"
clang="clang -x c" clangxx="clang++ -std=gnu++17 -x c++"
for language in clang clangxx; do
  command -v "${!language%% *}" >/dev/null || continue
  ${!language}-header $flags -o "$folder/$language.pch" "$source/satin/satin.h" 2>/dev/null \
    && printf -v $language '%s -include-pch %s' "${!language}" "$folder/$language.pch"
done

result ()
{
  n=$((n + 1))
  echo "$1 $n - $2"
}

compiles ()
{
  if $2 $flags -c -o "$folder/out.o" "$source/tests/unit/compile/words.c" 2>"$folder/log"; then
    result ok "every word compiles as $1"
  else
    result "not ok" "every word compiles as $1"
    sed 's/^/# /' "$folder/log"
  fi
}

# refuses PATTERN PROGRAM-TEXT: the program does not compile, and the compiler's messages match PATTERN. They stay in the files
# log.c and log.cxx.
refuses ()
{
  local language text

  text='#include <satin.h>
SATIN_JOB (fib, int64_t, (int32_t, n)) { return n; }'
  printf '%s\n%s\n' "$text" "$2" >"$folder/bad.c"
  for language in c cxx; do
    if ${!language} $flags -c -o "$folder/out.o" "$folder/bad.c" 2>"$folder/log.$language"; then
      result "not ok" "compiled: $2"
    elif grep -q -e "$1" "$folder/log.$language"; then
      result ok "refused (${!language:0:3}): $2"
    else
      result "not ok" "refused without saying '$1': $2"
      sed 's/^/# /' "$folder/log.$language"
    fi
  done
}

# The layout number of satin.h.
layout=$(
  printf '%s\n' '#include <stdio.h>' '#include <satin.h>' 'int main (void) { printf ("0x%x\n", SATIN_LAYOUT_); return 0; }' >"$folder/layout.c"
  $c $flags -o "$folder/layout" "$folder/layout.c" && "$folder/layout"
)
plain="${CC:-cc} -std=gnu11 -I$folder/changed -I$folder/plain $(pkg-config --cflags glib-2.0 gio-2.0)"
mkdir "$folder/plain"
printf '#include <%s>\n' glib.h stdio.h string.h >"$folder/plain/before.h"
$plain -x c-header -o "$folder/plain/before.h.gch" "$folder/plain/before.h"

# changes STRUCT: one more member at the beginning of STRUCT changes the layout number.
changes ()
{
  local found= file

  rm -rf "$folder/changed"
  mkdir "$folder/changed"
  cp "$source/satin/satin.h" "$source"/satin/satin-*.h "$source/satin/value/satin-type.h" "$folder/changed"
  for file in satin/satin-frame.h satin/satin-words.h satin/value/satin-type.h; do
    awk -v name="$1" '
      /^(typedef )?struct( [A-Za-z_]+)?$/ { head = $0; begin = NR; sub (/.*struct */, "", head) }
      { line[NR] = $0 }
      /^{/ && begin == NR - 1 { open = NR; if (head == name) at = NR }
      /^} / && open { if ($2 == name ";") at = open; open = 0 }
      END { for (i = 1; i <= NR; i++) { print line[i]; if (i == at) print "  void *satin_more_;" } }
    ' "$source/$file" >"$folder/changed/${file##*/}"
    cmp -s "$source/$file" "$folder/changed/${file##*/}" || found=yes
  done
  printf '%s\n' '#include <satin.h>' "_Static_assert (SATIN_LAYOUT_ != ${layout}u, \"the same layout\");" >"$folder/changed.c"
  if [ -n "$found" ] && [ -n "$layout" ] && $plain -fsyntax-only -include before.h "$folder/changed.c" 2>"$folder/log"; then
    result ok "another $1 is another layout"
  else
    result "not ok" "another $1 is another layout"
    sed 's/^/# /' "$folder/log"
  fi
}

compiles C "$c"
compiles C++ "$cxx"
refuses satin_int_differs_between_machines 'SATIN_RECORD (R, (int, a))'
refuses satin_int_differs_between_machines 'SATIN_JOB (j, int, (int32_t, n)) { return n; }'
refuses satin_long_differs_between_machines 'SATIN_JOB (j, int64_t, (long, n)) { return n; }'
refuses satin_long_differs_between_machines 'SATIN_RECORD (R, (long long, a))'
refuses satin_unsigned_differs_between_machines 'SATIN_RECORD (R, (unsigned int, a, 4))'
refuses satin_unsigned_differs_between_machines 'SATIN_RECORD (R, (unsigned, a))'
refuses satin_char_differs_between_machines 'SATIN_RECORD (R, (char, name, 8))'
refuses satin_char_differs_between_machines 'SATIN_RECORD (R, (char *, name))'
refuses satin_short_differs_between_machines 'SATIN_RECORD (R, (short, a))'
refuses satin_float_has_no_portable_encoding 'SATIN_RECORD (R, (float, a))'
refuses satin_bool_differs_between_machines 'SATIN_RECORD (R, (int32_t, b), (bool, a))'
refuses satin_size_t_differs_between_machines 'SATIN_RECORD (R, (size_t, a))'
refuses satin_gboolean_differs_between_machines 'SATIN_RECORD (R, (gboolean, a))'
refuses satin_int_differs_between_machines 'SATIN_CONST (int, limit)'
refuses 'holds a SatinShared' 'SATIN_RECORD (R, (int32_t, n), (SatinShared, s)) SATIN_CONST (R, plane)'
refuses 'holds a SatinShared' 'static const SatinShared *m (const SatinShared *a, const SatinShared *b) { return a < b ? a : b; } SATIN_BEST (SatinShared, plane, m, NULL)'
refuses 'too few arguments' \
  'SATIN_JOB (j, int64_t, (int32_t, n)) { int64_t x; satin_spawn (fib, &x); satin_sync (); return x + n; }'
refuses 'too many arguments' \
  'SATIN_JOB (j, int64_t, (int32_t, n)) { int64_t x; satin_spawn (fib, &x, n, 2); satin_sync (); return x; }'
refuses 'int32_t' \
  'SATIN_JOB (j, int64_t, (int32_t, n)) { int32_t x; satin_spawn (fib, &x, n); satin_sync (); return x; }'
refuses "argument .*n.* has another type" \
  'SATIN_JOB_DECLARE (j, int64_t, (int32_t, n)); SATIN_JOB_DEFINE (j, int64_t, (int64_t, n)) { return n; }'
refuses "another number of arguments" \
  'SATIN_JOB_DECLARE (j, int64_t, (int32_t, n)); SATIN_JOB_DEFINE (j, int64_t) { return 1; }'
refuses satin_keep_and_recall_need_SATIN_KEEPS \
  'SATIN_JOB (j, int64_t, (int32_t, n)) { int64_t x = n; satin_keep (&x); return x; }'
refuses satin_keep_and_recall_need_SATIN_KEEPS \
  'SATIN_JOB (j, int64_t, (int32_t, n)) { int64_t x = n; satin_recall (&x); return x; }'
refuses 'int32_t' \
  'SATIN_JOB (j, int64_t, (int32_t, n)) { SATIN_KEEPS (int64_t); satin_keep (&n); return n; }'
refuses 'int32_t' \
  'SATIN_JOB (j, int64_t, (int32_t, n)) { SATIN_KEEPS (int64_t); satin_recall (&n); return n; }'
refuses 'const' \
  'SATIN_JOB (j, int64_t, (int64_t, n)) { SATIN_KEEPS (int64_t); const int64_t x = n; satin_recall (&x); return x; }'
refuses satin_int_differs_between_machines \
  'SATIN_JOB (j, int64_t, (int64_t, n)) { SATIN_KEEPS (int); int x = 1; satin_keep (&x); return n + x; }'
# refuses_once PATTERN PROGRAM-TEXT [COUNT]: as `refuses`; and with each installed compiler there is one error, or COUNT errors,
# the first of which matches PATTERN.
refuses_once ()
{
  local compiler

  refuses "$1" "$2"
  for compiler in clang clangxx c cxx; do
    command -v ${!compiler%% *} >/dev/null || { result ok "# SKIP no ${!compiler%% *}"; continue; }
    [[ $compiler != clang* ]] \
      || ${!compiler} $flags -c -o "$folder/out.o" "$folder/bad.c" 2>"$folder/log.$compiler"
    if [ "$(grep -c 'error:' "$folder/log.$compiler")" -eq "${3:-1}" ] \
      && grep 'error:' "$folder/log.$compiler" | head -n 1 | grep -q -e "$1"; then
      result ok "one error (${!compiler%% *}): $2"
    else
      result "not ok" "one error (${!compiler%% *}): $2"
      sed 's/^/# /' "$folder/log.$compiler"
    fi
  done
}

refuses_once 'j.* has more than 8 arguments: put some into a SATIN_RECORD' \
  'SATIN_JOB (j, int64_t, (int32_t, a), (int32_t, b), (int32_t, c), (int32_t, d), (int32_t, e), (int32_t, f), (int32_t, g), (int32_t, h), (int32_t, i)) { return a + b + c + d + e + f + g + h + i; }'
refuses_once "double.*int32_t\|double.* to .int32_t" \
  'SATIN_JOB (j, int64_t, (double, x)) { int64_t r; satin_spawn (fib, &r, x); satin_sync (); return r; }'
refuses_once "double.*int32_t" 'SATIN_JOB (j, int64_t, (double, x)) { return satin_call (fib, x) + satin_call (fib, 1); }'
refuses_once satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_Place \
  'typedef struct { int32_t x, y; } Place; SATIN_JOB (j, int64_t, (Place, p)) { return p.x; }' 2
refuses_once satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_Place \
  'typedef struct { int32_t x, y; } Place; SATIN_RECORD (R, (int32_t, n), (Place, p))' 2
for version in 0 -1 1.5 4294967296; do
  refuses "SATIN_APP_VERSION takes an integer from 1 to 2^32-1" "SATIN_APP_VERSION ($version)"
done
refuses 'every result needs a variable' \
  'SATIN_JOB (j, int64_t, (int32_t, n)) { satin_spawn (fib, (int64_t *) NULL, n); satin_sync (); return n; }'
refuses 'every result needs a variable' \
  'gboolean f (SatinRun *run); gboolean f (SatinRun *run) { return satin_root (run, fib, (int64_t *) NULL, 3); }'
refuses satin_int_differs_between_machines 'SATIN_LIST (L, int)'
refuses satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_Place 'typedef struct { int x; } Place; SATIN_LIST (L, Place)'
refuses satin_frame_ 'int64_t f (void); int64_t f (void) { int64_t x; satin_spawn (fib, &x, 3); return x; }'
for name in SatinStack_ SatinSlot_ SatinJob SatinDone_ SatinPhases_ SatinConst_ SatinBest_ SatinApp SatinType SatinField; do
  changes $name
done
echo "1..$n" # last, so that a script that breaks off has none

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What must compile does, in C and in C++; what must not does not, and says why.
source=${SATIN_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
flags="-I$source/satin -I$source/satin/value $(pkg-config --cflags glib-2.0 gio-2.0)"
c="${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wconversion -Wpedantic -Wcast-align=strict -Wcast-qual -Werror -x c"
cxx="${CXX:-c++} -std=gnu++17 -O2 -Wall -Wextra -Werror -x c++"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n=0

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

# refuses WORD-IN-THE-MESSAGE PROGRAM-TEXT
refuses ()
{
  local language text

  text='#include <satin.h>
SATIN_JOB (fib, int64_t, (int32_t, n)) { return n; }'
  printf '%s\n%s\n' "$text" "$2" >"$folder/bad.c"
  for language in "$c" "$cxx"; do
    if $language $flags -c -o "$folder/out.o" "$folder/bad.c" 2>"$folder/log"; then
      result "not ok" "compiled: $2"
    elif grep -q -e "$1" "$folder/log"; then
      result ok "refused (${language:0:3}): $2"
    else
      result "not ok" "refused without saying '$1': $2"
      sed 's/^/# /' "$folder/log"
    fi
  done
}

echo "1..$((2 + 2 * 28))"
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
refuses satin_frame_ 'int64_t f (void); int64_t f (void) { int64_t x; satin_spawn (fib, &x, 3); return x; }'

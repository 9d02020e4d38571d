#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that satin.hpp refuses at compile time with a message that names the reason: law 5 (satin.hpp), types without a
# portable encoding, wrong descriptions.
source=${SATIN_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
flags="-I$source/satin -I$source/satin/value $(pkg-config --cflags glib-2.0 gio-2.0)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n=0

result ()
{
  n=$((n + 1))
  echo "$1 $n - $2"
}

# All programs that must not compile are parts of one source, so that the header is read only once. Each part has its own
# namespace, and its own file name by #line, so that each message of the compiler shows its part.
texts=() wanted=()
refuses () # WORDS-IN-THE-MESSAGE PROGRAM-TEXT
{
  wanted+=("$1")
  texts+=("$2")
}

# in_job TEXT: a program with TEXT in the body of a job.
in_job () { echo "SATIN_BODY int64_t body (satin::Job &job) { int64_t x = 0; $1; job.sync (); return x; }
int64_t starts (satin::Run &run); int64_t starts (satin::Run &run) { int64_t x = 0; run.root<body> (x); return x; }"; }

# Each part has these: a type with a destructor, and a job.
own='struct Held { int32_t n; ~Held () { } bool operator< (const Held &held) const { return n < held.n; } };
SATIN_BODY int64_t leaf (satin::Job &, int32_t n) { return n; }'

# Law 5: a value with a destructor cannot be an argument, result, state or best value.
refuses 'law 5' "struct Work { Held s; int64_t operator() (satin::Job &) const { return 1; } };
SATIN_MEMBERS (Work, (Held, s)) $(in_job 'job.spawn (x, Work{ { 1 } })')"
refuses 'law 5' "struct Work { int32_t n; ~Work () { } int64_t operator() (satin::Job &) const { return n; } };
SATIN_MEMBERS (Work, (int32_t, n)) $(in_job 'Work work; work.n = 1; job.spawn (x, work)')"
refuses 'law 5' "$(in_job 'std::vector<int32_t> v; job.spawn (x, [v] (satin::Job &) { return (int64_t) v[0]; })')"
refuses 'law 5' "SATIN_BODY int64_t work (satin::Job &, const Held &s) { return s.n; } $(in_job 'job.spawn<work> (x, Held{ 1 })')"
refuses 'law 5' "SATIN_BODY std::unique_ptr<Held> work (satin::Job &) { return nullptr; } $(in_job 'job.call<work> ()')"
refuses 'law 5' "$(in_job 'std::vector<Held> state; job.keep (state)')"
refuses 'law 5' 'inline Held piece (int64_t) { return { 1 }; } '"$(in_job 'job.call<satin::map<piece>> (0, 1, 1)')"
refuses 'law 5' 'satin::Best<Held> best ("best", { 1 });'
refuses 'trivially copyable' "struct Work { int32_t n; Work (int32_t m) : n (m) { } Work (const Work &w) : n (w.n + 1) { }
int64_t operator() (satin::Job &) const { return n; } }; SATIN_MEMBERS (Work, (int32_t, n)) $(in_job 'job.spawn (x, Work (1))')"

# Encodings: as in C.
refuses satin_int_differs_between_machines 'struct P { int x; }; SATIN_MEMBERS (P, (int, x))'
refuses satin_long_differs_between_machines 'struct P { long x; }; SATIN_MEMBERS (P, (long, x))'
refuses satin_unsigned_differs_between_machines 'struct P { unsigned int x[3]; }; SATIN_MEMBERS (P, (unsigned int, x, 3))'
refuses satin_bool_differs_between_machines 'struct P { bool x; }; SATIN_MEMBERS (P, (bool, x))'
refuses satin_size_t_differs_between_machines 'struct P { size_t x; }; SATIN_MEMBERS (P, (size_t, x))'
refuses satin_const_types_and_pointers_cannot_travel 'struct P { const char *x; }; SATIN_MEMBERS (P, (const char *, x))'
refuses 'no portable encoding' 'struct P { float x; }; struct Q { P p; }; SATIN_MEMBERS (Q, (P, p))'
refuses 'no portable encoding' "SATIN_BODY int64_t work (satin::Job &, float f) { return f > 0; } $(in_job 'job.spawn<work> (x, 1.0f)')"
refuses 'no portable encoding' "SATIN_BODY int64_t work (satin::Job &, int32_t *p) { return *p; } $(in_job 'job.spawn<work> (x, nullptr)')"
refuses 'no portable encoding' "$(in_job 'int32_t n = 3; job.spawn (x, [n] (satin::Job &) { return (int64_t) n; })')"
refuses 'no portable encoding' 'enum Loose { one, two }; struct P { Loose x; }; SATIN_MEMBERS (P, (Loose, x))'
refuses 'holds a SatinShared' 'satin::Const<satin::Shared> plane ("plane");'

# Descriptions: all members, in order, with their types.
refuses 'has another type' 'struct P { int32_t x; }; SATIN_MEMBERS (P, (int64_t, x))'
refuses 'has another type' 'struct P { int32_t x[4]; }; SATIN_MEMBERS (P, (int32_t, x, 3))'
refuses 'provided for structured binding' 'struct P { int32_t x, y; }; SATIN_MEMBERS (P, (int32_t, x))'
refuses 'in their order' 'struct P { int32_t x, y; }; SATIN_MEMBERS (P, (int32_t, y), (int32_t, x))'
refuses 'lists all members' 'struct P { int32_t x; }; SATIN_MEMBERS (P)'
refuses 'must be a plain struct' 'struct P { int32_t x; virtual int32_t f () { return x; } }; SATIN_MEMBERS (P, (int32_t, x))'

# Arguments and results.
refuses 'int32_t\|no matching' "$(in_job 'int32_t y; job.spawn<leaf> (y, 3)')"
refuses 'another number of arguments' "$(in_job 'job.spawn<leaf> (x)')"
refuses 'another number of arguments' "$(in_job 'job.spawn<leaf> (x, 1, 2)')"
refuses 'does not become an integer' "$(in_job 'job.spawn<leaf> (x, 2.5)')"
refuses 'has the wrong type' "$(in_job 'job.spawn<leaf> (x, "3")')"
refuses 'a reference to a constant' "SATIN_BODY int64_t work (satin::Job &, int32_t &n) { return n; } $(in_job 'job.spawn<work> (x, 3)')"
refuses 'at most 8 arguments' "SATIN_BODY int64_t work (satin::Job &, double, double, double, double, double, double, double, double, double) { return 1; }
$(in_job 'job.spawn<work> (x, 1., 1., 1., 1., 1., 1., 1., 1., 1.)')"
refuses 'has a result\|void' "SATIN_BODY void work (satin::Job &) { } $(in_job 'job.call<work> ()')"
refuses 'deleted\|private' "$(in_job 'satin::Job other = job')"

{
  printf '%s\n' '#include <satin.hpp>' '#include <memory>' '#include <vector>'
  for i in "${!texts[@]}"; do
    printf '#line 1 "case%d"\nnamespace case%d { %s\n%s }\n' "$i" "$i" "$own" "${texts[i]}"
  done
} >"$folder/bad.cc"
# shellcheck disable=SC2086
LC_ALL=C ${CXX:-c++} -std=gnu++17 -Wall -Wextra -ftrack-macro-expansion=0 -fmax-errors=0 $flags -fsyntax-only "$folder/bad.cc" 2>"$folder/log"
# Lines above an error name the part that instantiated the template, if the error itself is in another file.
awk '{ if (match ($0, /case[0-9]+:/)) at = substr ($0, RSTART, RLENGTH - 1) } /: error: / { print at ": " $0 }' "$folder/log" >"$folder/errors"
for i in "${!texts[@]}"; do
  if grep -q -e "^case$i: .*${wanted[i]//\\|/\\|^case$i: .*}" "$folder/errors"; then
    result ok "refused: ${texts[i]//$'\n'/ }"
  else
    result "not ok" "refused without saying '${wanted[i]}': ${texts[i]//$'\n'/ }"
    grep "^case$i: " "$folder/errors" | sed 's/^/# /'
  fi
done

# Valid programs compile with each installed compiler, without warnings of unused parts of the header.
{
  printf '%s\n' '#include <satin.hpp>' "namespace one { $own" "$(in_job 'job.spawn<leaf> (x, 3)')" '}'
  printf '%s\n' 'namespace two { struct Pair { int32_t x, y; }; SATIN_MEMBERS (Pair, (int32_t, x), (int32_t, y))'
  printf '%s\n' 'struct Work { Pair p; int64_t operator() (satin::Job &) const { return p.x; } }; SATIN_MEMBERS (Work, (Pair, p))'
  printf '%s\n' "$(in_job 'job.spawn (x, Work{ { 1, 2 } })')" '}'
} >"$folder/good.cc"
for compiler in "${CXX:-c++}" clang++; do
  command -v "${compiler%% *}" >/dev/null || { result ok "# SKIP no $compiler"; continue; }
  # shellcheck disable=SC2086
  if $compiler -std=gnu++17 -Wall -Wextra -Wshadow -Wconversion -Werror $flags -fsyntax-only "$folder/good.cc" 2>"$folder/log"; then
    result ok "a valid program compiles ($compiler)"
  else
    result "not ok" "a valid program compiles ($compiler)"
    head -n 20 "$folder/log" | sed 's/^/# /'
  fi
done
echo "1..$n" # last, so that a script that breaks off has none

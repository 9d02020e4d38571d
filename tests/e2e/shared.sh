#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libsatin.so: what it exports, its SONAME, and programs with jobs in two shared libraries, with libsatin.so and with
# libsatin.a. The library is linked from the objects of libsatin.a, so nothing is compiled again.
. "$(dirname "$0")/lib.sh"
[ -n "${SATIN_SANITIZED-}" ] && { echo "1..0 # SKIP a sanitized library needs its own flags"; exit 0; }
tree=$SATIN_BIN/..
try env -u MAKEFLAGS -u MAKELEVEL make -s -C "$tree" satin/libsatin.so
is "the shared library links" "$code" 0
so=$tree/satin/libsatin.so
printf '%s\n' '#include <stdio.h>' '#include <satin.h>' 'int main (void) { printf ("%08x\n", SATIN_LAYOUT_); return 0; }' >"$work/layout.c"
# shellcheck disable=SC2046
try ${CC:-gcc} -std=gnu11 -I"$SATIN_SOURCE/satin" -I"$SATIN_SOURCE/satin/value" $(pkg-config --cflags glib-2.0 gio-2.0) -o "$work/layout" "$work/layout.c"
layout=$("$work/layout")
is "its SONAME has the layout number" "$(objdump -p "$so" | sed -n 's/.*SONAME *//p')" "libsatin.so.$layout"
is "it exports only the words of satin.h" "$(nm -D --defined-only "$so" | awk '$3 !~ /^satin_/' | head -n 3)" ""
ok "… and not the rooms" [ "$(nm -D --defined-only "$so" | grep -c -e ' path_' -e ' node_' -e ' engine_')" -eq 0 ]

# Makes a folder like an installed one, with the files of pkg-config.
mkdir -p "$work/lib/pkgconfig"
cp "$so" "$work/lib/libsatin.so.$layout"
ln -s "libsatin.so.$layout" "$work/lib/libsatin.so"
cp "$tree/satin/libsatin.a" "$work/lib"
ln -s "$SATIN_SOURCE/satin" "$work/include"
for pc in satin satin-shared; do
  sed "s|^libdir=.*|libdir=$work/lib|" "$tree/$pc.pc" >"$work/lib/pkgconfig/$pc.pc"
done
export PKG_CONFIG_PATH=$work/lib/pkgconfig
flags_of () { echo "-I$SATIN_SOURCE/satin -I$SATIN_SOURCE/satin/value $(pkg-config --cflags --libs "$1")"; }

# Two libraries, in C and in C++, each with a job that the program spawns. A job in the header is in the C++ library and in the
# program.
cat >"$work/shared.hpp" <<'END'
#include <satin.hpp>
SATIN_BODY int64_t
fib (satin::Job &job, int32_t n)
{
  int64_t x, y;
  if (n < 2)
    return n;
  job.spawn<fib> (x, n - 1);
  job.spawn<fib> (y, n - 2);
  job.sync ();
  return x + y;
}
struct Twice { int32_t n; int64_t operator() (satin::Job &job) const; };
SATIN_MEMBERS (Twice, (int32_t, n))
END
cat >"$work/one.c" <<'END'
#include <satin.h>
SATIN_JOB (sum, int64_t, (int32_t, low), (int32_t, high))
{
  int64_t x, y;
  if (high - low == 1)
    return low;
  satin_spawn (sum, &x, low, (low + high) / 2);
  satin_spawn (sum, &y, (low + high) / 2, high);
  satin_sync ();
  return x + y;
}
END
cat >"$work/two.cc" <<'END'
#include "shared.hpp"
int64_t Twice::operator() (satin::Job &job) const { return 2 * job.call<fib> (n); }
END
cat >"$work/main.cc" <<'END'
#include "shared.hpp"
#include <stdio.h>
#include <stdlib.h>
SATIN_JOB_DECLARE (sum, int64_t, (int32_t, low), (int32_t, high));
SATIN_JOB (all, int64_t, (int32_t, n))
{
  int64_t x;
  satin_spawn (sum, &x, 0, n);
  satin_sync ();
  return x;
}
static int64_t both (satin::Job &job, int32_t n);
static int64_t
both (satin::Job &job, int32_t n)
{
  int64_t x, y;
  job.spawn (x, Twice{ n });
  job.spawn<fib> (y, n);
  job.sync ();
  return x + y;
}
static int
run (satin::Run &run, int argc, char **argv)
{
  int64_t result;
  if (!run.root<both> (result, atoi (argv[argc - 1])))
    return run.stopped ();
  printf ("%lld\n", (long long)result);
  return 0;
}
static int
run_sum (SatinRun *its, int, char **argv)
{
  int64_t result;
  if (!satin_root (its, all, &result, atoi (argv[2])))
    return satin_stopped (its);
  printf ("%lld\n", (long long)result);
  return 0;
}
int
main (int argc, char **argv)
{
  static const SatinJob *const none[] = { nullptr };
  static const SatinApp app = { SATIN_LAYOUT_, "sum", "N", run_sum, none };
  if (argc > 1 && strcmp (argv[1], "sum") == 0)
    return satin_main_ (&app, argc, argv);
  return satin::program<run> ("both", "N", argc, argv);
}
END
export LD_LIBRARY_PATH=$work/lib
# shellcheck disable=SC2046
{
  try ${CC:-gcc} -std=gnu11 -O2 -shared -fPIC -o "$work/lib/libone.so" "$work/one.c" $(flags_of satin-shared)
  is "a library in C with a job" "$code" 0
  try "${CXX:-g++}" -std=gnu++17 -O2 -shared -fPIC -o "$work/lib/libtwo.so" "$work/two.cc" $(flags_of satin-shared)
  is "a library in C++ with jobs" "$code" 0
  try "${CXX:-g++}" -std=gnu++17 -O2 -o "$work/main" "$work/main.cc" -L"$work/lib" -lone -ltwo $(flags_of satin-shared)
  is "a program with libsatin.so" "$code" 0
}
ok "… needs the library that it was compiled for" grep -q "NEEDED *libsatin.so.$layout" <<<"$(objdump -p "$work/main")"
try "$work/main" 20
is "the jobs in C++ run" "$code:$answer" "0:20295"
try "$work/main" sum 1000
is "the job in C runs" "$code:$answer" "0:499500"
try "$satin" run -n 3 --workers 1 -- "$work/main" 24
is "on three nodes" "$code:$answer" "0:139104"
rm "$work/lib/libsatin.so.$layout"
try "$work/main" 20
ok "a library of another layout is not used" [ "$code" -ne 0 -a -z "$answer" ]

# The libraries use the program's libsatin.a: they are linked to no Satin library.
# shellcheck disable=SC2046
{
  try ${CC:-gcc} -std=gnu11 -O2 -shared -fPIC -o "$work/lib/libone.so" "$work/one.c" $(pkg-config --cflags satin) -I"$SATIN_SOURCE/satin" -I"$SATIN_SOURCE/satin/value"
  try "${CXX:-g++}" -std=gnu++17 -O2 -shared -fPIC -o "$work/lib/libtwo.so" "$work/two.cc" $(pkg-config --cflags satin) -I"$SATIN_SOURCE/satin" -I"$SATIN_SOURCE/satin/value"
  try "${CXX:-g++}" -std=gnu++17 -O2 -o "$work/main" "$work/main.cc" -L"$work/lib" -lone -ltwo $(flags_of satin)
  is "a program with libsatin.a" "$code" 0
}
ok "… needs no libsatin.so" [ "$(objdump -p "$work/main" | grep -c 'NEEDED *libsatin')" -eq 0 ]
try "$work/main" 20
is "… the jobs in C++ run" "$code:$answer" "0:20295"
try "$work/main" sum 1000
is "… and that in C" "$code:$answer" "0:499500"
finish

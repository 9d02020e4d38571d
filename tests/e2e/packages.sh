#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make install; make uninstall leaves nothing behind. debian/ has the version of configure.ac. Each installed file is in exactly
# one package. Each app is in satin-apps, where it hides no other command. The packages themselves: make deb, debian/tests.
. "$(dirname "$0")/lib.sh"
build=$(readlink -f "$SATIN_BIN/..")
debian=$SATIN_SOURCE/debian
if [ ! -f "$build/Makefile" ]; then
  echo "1..0 # SKIP there is no Makefile beside $SATIN_BIN"
  exit 0
fi
# Runs make without the variables of an outer make.
remade () { try env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$build" AUTOMAKE=: ACLOCAL=: AUTOCONF=: AUTOHEADER=: "$@"; }
files () { (cd "$1" && find . ! -type d | sed 's,^\./,,' | sort); }

remade install-exec install-data DESTDIR="$work/root" prefix=/usr
is "make install" "$code" 0
files "$work/root" >"$work/installed"
for file in usr/bin/satin usr/include/satin/satin.h usr/lib/libsatin.a usr/lib/pkgconfig/satin.pc usr/share/man/man1/satin.1; do
  ok "$file is installed" grep -qx "$file" "$work/installed"
done
is "nothing else is on the path" "$(grep /bin/ "$work/installed")" usr/bin/satin

if [ -f "$debian/changelog" ]; then
  is "debian/changelog has this version" "$(sed -n '1s/^satin (\(.*\)) .*/\1/p' "$debian/changelog")" \
    "$(sed -n 's/^AC_INIT(\[satin\], \[\(.*\)\])/\1/p' "$SATIN_SOURCE/configure.ac")"
  # The files that the packages take, with lib/ for Debian's architecture folder lib/*/.
  cat "$debian"/*.install "$debian"/*.manpages "$debian"/*.docs | sed 's,^debian/tmp/,,; s,usr/lib/\*/,usr/lib/,' >"$work/taken"
  while read -r file; do
    of=$(while read -r taken; do [ "$file" = "$taken" ] || [[ $file == "$taken"/* ]] && echo "$taken"; done <"$work/taken" | wc -l)
    is "$file is in one package" "$of" 1
  done <"$work/installed"
  apps=$(sed -n 's/^noinst_PROGRAMS += bin\///p' "$SATIN_SOURCE/apps/Makefile.inc" | sort | tr '\n' ' ')
  is "all apps are packaged" "$(sed -n 's/^APPS = //p' "$debian/rules" | tr ' ' '\n' | sort | tr '\n' ' ')" "$apps"
  # The instances that the pages name are in satin-apps.
  (cd "$SATIN_SOURCE" && find apps -mindepth 2 -type f | grep -Ev '\.(c|cc|h|hpp|expect|png)$' | sort) >"$work/instances"
  # shellcheck disable=SC2086
  (cd "$SATIN_SOURCE" && ls -d $(cat debian/satin-apps.examples) | sort) >"$work/examples"
  is "all instances are packaged" "$(comm -3 "$work/instances" "$work/examples")" ""
  is "… with different names" "$(sed 's,.*/,,' "$work/examples" | sort | uniq -d)" ""
else
  skip "debian/changelog has this version" "there is no debian/, as in a tarball"
fi

# A file that Satin did not install stays.
echo mine >"$work/root/usr/share/man/man1/other.1"
remade uninstall DESTDIR="$work/root" prefix=/usr
is "make uninstall" "$code" 0
is "… leaves nothing of ours" "$(files "$work/root")" usr/share/man/man1/other.1
is "… and no folder" "$(find "$work/root" -type d -name '*satin*')" ""
finish

dnl SPDX-License-Identifier: BSD-3-Clause
dnl SATIN_HARDEN: what makes a bug in the rooms a crash in place of an attack, as far as this compiler and linker know it.
dnl   SATIN_HARDENING       for all rooms
dnl   SATIN_INIT            local variables begin as zero: for rooms that are not on the measured way of a steal
dnl   SATIN_HARDENING_LINK  for programs
dnl Not with a sanitizer, which must see variables that are not set, and has calls of its own in place of fortified ones.

dnl SATIN_TRY (VARIABLE, FLAG): appends FLAG if a program can be compiled and linked with it, without a warning.
AC_DEFUN([SATIN_TRY], [
  satin_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $2"
  AC_MSG_CHECKING([whether $CC takes $2])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>
#include <string.h>]], [[char text[8]; memset (text, 0, sizeof text); return puts (text) < 0;]])],
    [AC_MSG_RESULT([yes])
     $1="$$1 $2"],
    [AC_MSG_RESULT([no])])
  CFLAGS=$satin_saved_CFLAGS])

AC_DEFUN([SATIN_HARDEN], [
  SATIN_HARDENING= SATIN_INIT= SATIN_HARDENING_LINK=
  AS_IF([test "x$with_sanitizer" = xno],
    [SATIN_TRY([SATIN_HARDENING], [-fstack-protector-strong])
     SATIN_TRY([SATIN_HARDENING], [-fstack-clash-protection])
     SATIN_TRY([SATIN_HARDENING], [-fcf-protection=full])
     SATIN_TRY([SATIN_HARDENING], [-fno-strict-overflow])
     SATIN_TRY([SATIN_HARDENING], [-fno-delete-null-pointer-checks])
     dnl A distribution that says a level has chosen it; without optimisation there is none.
     AS_CASE(["$CPPFLAGS $CFLAGS"], [*_FORTIFY_SOURCE*], [],
       [SATIN_TRY([SATIN_HARDENING], [-D_FORTIFY_SOURCE=3])])
     SATIN_TRY([SATIN_INIT], [-ftrivial-auto-var-init=zero])
     SATIN_TRY([SATIN_HARDENING_LINK], [-Wl,-z,relro])
     SATIN_TRY([SATIN_HARDENING_LINK], [-Wl,-z,now])
     SATIN_TRY([SATIN_HARDENING_LINK], [-Wl,-z,noexecstack])])
  AC_SUBST([SATIN_HARDENING])
  AC_SUBST([SATIN_INIT])
  AC_SUBST([SATIN_HARDENING_LINK])])

dnl SPDX-License-Identifier: BSD-3-Clause
dnl AX_PTHREAD_SATIN: the one thread flag that every compiler we support takes.
AC_DEFUN([AX_PTHREAD_SATIN], [PTHREAD_FLAGS="-pthread"
AC_SUBST([PTHREAD_FLAGS])])

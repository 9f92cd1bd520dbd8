dnl SPDX-License-Identifier: MIT
dnl FX_CHECK_MPI(NAME, VARIABLE, MODULES, MACRO, PACKAGE): whether an MPI is there, by the first of its pkg-config modules; its
dnl mpi.h defines MACRO. VARIABLE_CFLAGS says where that is, if the user knows better.
AC_DEFUN([FX_CHECK_MPI], [
AC_ARG_VAR([$2_CFLAGS], [C compiler flags for $1])
AC_ARG_ENABLE([$1], [AS_HELP_STRING([--disable-$1], [leave out the library for programs with $1])],
  [], [enable_$1=maybe])
fx_mpi_$1=no
AS_IF([test "$enable_$1" != no], [
  AS_IF([test -z "$$2_CFLAGS" && test -n "$PKG_CONFIG"],
    [for fx_module in $3; do
       AS_IF([$PKG_CONFIG --exists $fx_module], [$2_CFLAGS=`$PKG_CONFIG --cflags $fx_module`; break])
     done])
  AC_MSG_CHECKING([for $1])
  fx_saved_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $$2_CFLAGS"
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <mpi.h>
#ifndef $4
#error another MPI
#endif
MPI_Comm none = 0;
]])], [fx_mpi_$1=yes])
  CPPFLAGS=$fx_saved_CPPFLAGS
  AC_MSG_RESULT([$fx_mpi_$1])
])
AS_IF([test "$fx_mpi_$1" = no && test "$enable_$1" = yes],
  [AC_MSG_ERROR([$1's mpi.h was not found (Debian: $5)])])
AM_CONDITIONAL([HAVE_$2], [test "$fx_mpi_$1" = yes])
])

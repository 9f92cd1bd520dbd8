# SPDX-License-Identifier: MIT
# FX_CHECK_SPANK: whether Slurm's plugin can be built: HAVE_SPANK. What it is built with is the release that loads it.
AC_DEFUN([FX_CHECK_SPANK], [
AC_ARG_ENABLE([spank], [AS_HELP_STRING([--disable-spank], [leave out the plugin for Slurm])],
  [], [enable_spank=maybe])
fx_spank=no
AS_IF([test "$enable_spank" != no], [AC_CHECK_HEADER([slurm/spank.h], [fx_spank=yes])])
AS_IF([test "$enable_spank.$fx_spank" = yes.no],
  [AC_MSG_ERROR([slurm/spank.h not found (Debian: libslurm-dev)])])
AM_CONDITIONAL([HAVE_SPANK], [test "$fx_spank" = yes])
])

dnl SPDX-License-Identifier: MIT
dnl FX_CHECK_LOAD: whether servers can be asked (libcurl, which is loaded when it is wanted: its headers alone count), and what
dnl archives are known by there (xxhash's header).
AC_DEFUN([FX_CHECK_LOAD], [
AC_ARG_ENABLE([load], [AS_HELP_STRING([--disable-load], [leave out what talks to ClickHouse and collectors])],
  [], [enable_load=maybe])
fx_load=no
AS_IF([test "$enable_load" != no],
  [PKG_CHECK_EXISTS([libcurl >= 7.62],
    [LIBCURL_CFLAGS=`$PKG_CONFIG --cflags libcurl`
     AC_CHECK_HEADER([xxhash.h], [fx_load=yes])])])
AC_SUBST([LIBCURL_CFLAGS])
AS_IF([test "$fx_load" = no && test "$enable_load" = yes],
  [AC_MSG_ERROR([libcurl 7.62 and xxhash.h were not found (Debian: libcurl4-openssl-dev libxxhash-dev)])])
AS_IF([test "$fx_load" = yes], [fx_load_value=1], [fx_load_value=0])
AC_DEFINE_UNQUOTED([HAVE_LIBCURL], [$fx_load_value], [Define to 1 if servers can be asked by libcurl.])
AC_DEFINE_UNQUOTED([HAVE_XXHASH], [$fx_load_value], [Define to 1 if xxhash.h is there.])
fx_saved_LIBS=$LIBS
AC_SEARCH_LIBS([dlopen], [dl], [AS_CASE([$ac_cv_search_dlopen], [-l*], [DL_LIBS=$ac_cv_search_dlopen])])
LIBS=$fx_saved_LIBS
AC_SUBST([DL_LIBS])
])

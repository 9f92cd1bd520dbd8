dnl SPDX-License-Identifier: MIT
dnl Checks for flags and for libraries that have no pkg-config file.

dnl FX_CHECK_CFLAG(VARIABLE, FLAG): adds FLAG to VARIABLE if the compiler knows it.
AC_DEFUN([FX_CHECK_CFLAG], [
AS_VAR_PUSHDEF([fx_cache], [fx_cv_cflag_$2])
AC_CACHE_CHECK([whether $CC accepts $2], [fx_cache], [
  fx_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $2"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AS_VAR_SET([fx_cache], [yes])], [AS_VAR_SET([fx_cache], [no])])
  CFLAGS=$fx_saved_CFLAGS
])
AS_VAR_IF([fx_cache], [yes], [AS_VAR_APPEND([$1], [" $2"])])
AS_VAR_POPDEF([fx_cache])
])

dnl The tracer depends on 64-bit words that are read and written whole. No header is asked: a compiler may come without
dnl those of its other widths.
AC_DEFUN([FX_CHECK_WORDS], [
AC_CACHE_CHECK([for 64-bit words], [fx_cv_words],
  [AC_COMPILE_IFELSE([AC_LANG_SOURCE([char is_64_bit@<:@sizeof(void *) == 8 ? 1 : -1@:>@;])],
    [fx_cv_words=yes], [fx_cv_words=no])])
AS_IF([test "$fx_cv_words" != yes],
  [AC_MSG_ERROR([fxtrace needs a 64-bit target; 32-bit programs are not supported])])
])

dnl What is traced is looked into by what glibc alone has, and has from this release on.
AC_DEFUN([FX_CHECK_LIBC], [
AC_CACHE_CHECK([for glibc 2.31 or later], [fx_cv_libc],
  [AC_PREPROC_IFELSE([AC_LANG_SOURCE([#include <features.h>
#if !defined __GLIBC__ || !__GLIBC_PREREQ(2, 31)
#error not it
#endif
])], [fx_cv_libc=yes], [fx_cv_libc=no])])
AS_IF([test "$fx_cv_libc" != yes],
  [AC_MSG_ERROR([fxtrace needs the GNU C library, 2.31 or later; musl and others are not supported])])
])

dnl What the kernel has is asked of it when it runs; here are the headers that its calls are made with.
AC_DEFUN([FX_CHECK_KERNEL], [
AC_CACHE_CHECK([for the headers of Linux 5.4 or later], [fx_cv_kernel],
  [AC_PREPROC_IFELSE([AC_LANG_SOURCE([#include <linux/version.h>
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 4, 0)
#error not it
#endif
])], [fx_cv_kernel=yes], [fx_cv_kernel=no])])
AS_IF([test "$fx_cv_kernel" != yes],
  [AC_MSG_ERROR([fxtrace needs the headers of Linux 5.4 or later (Debian: linux-libc-dev)])])
])

dnl libiberty demangles C++ and Rust names.
AC_DEFUN([FX_CHECK_LIBIBERTY], [
AC_CHECK_HEADER([libiberty/demangle.h], [],
  [AC_MSG_ERROR([libiberty/demangle.h not found (Debian: libiberty-dev)])])
AC_CHECK_LIB([iberty], [cplus_demangle], [IBERTY_LIBS=-liberty],
  [AC_MSG_ERROR([libiberty not found (Debian: libiberty-dev)])])
AC_SUBST([IBERTY_LIBS])
])

AC_DEFUN([FX_CHECK_UTHASH], [
AC_CHECK_HEADER([uthash.h], [], [AC_MSG_ERROR([uthash.h not found (Debian: uthash-dev)])])
])

AC_DEFUN([FX_CHECK_PTHREAD], [
fx_saved_LIBS=$LIBS
AC_SEARCH_LIBS([pthread_create], [pthread], [],
  [AC_MSG_ERROR([pthread_create not found])])
AS_CASE([$ac_cv_search_pthread_create], [-l*], [PTHREAD_LIBS=$ac_cv_search_pthread_create],
  [PTHREAD_LIBS=])
LIBS=$fx_saved_LIBS
AC_SUBST([PTHREAD_LIBS])
])

dnl FX_CHECK_FIRST(SCRIPT): linkers that put what a script names in front of all other code (GNU's, LLVM's) are given SCRIPT, where
dnl there is one when libfxtrace.so is linked; others link without.
AC_DEFUN([FX_CHECK_FIRST], [
AC_CACHE_CHECK([whether the linker orders functions by a script], [fx_cv_first], [
  cat >conftest.ld <<'END'
SECTIONS { .text.first : { *(.text.conftest .text.conftest.*) } } INSERT BEFORE .text;
END
  fx_saved_CFLAGS=$CFLAGS fx_saved_LDFLAGS=$LDFLAGS
  CFLAGS="$CFLAGS -ffunction-sections"
  LDFLAGS="$LDFLAGS -Wl,-T,conftest.ld"
  AC_LINK_IFELSE([AC_LANG_SOURCE([int conftest(void) { return 0; } int main(void) { return conftest(); }])],
    [fx_cv_first=yes], [fx_cv_first=no])
  CFLAGS=$fx_saved_CFLAGS LDFLAGS=$fx_saved_LDFLAGS
  rm -f conftest.ld
])
AS_IF([test "$fx_cv_first" = yes], [FIRST_LDFLAGS="-Wl,-T,$1"], [FIRST_LDFLAGS=])
AC_SUBST([FIRST_LDFLAGS])
])

dnl SPDX-License-Identifier: MIT
dnl The --enable options of configure.

dnl --enable-werror: warnings end the build.
AC_DEFUN([FX_ARG_WERROR], [
AC_ARG_ENABLE([werror],
  [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
  [], [enable_werror=no])
AS_IF([test "$enable_werror" = yes], [FX_WERROR=-Werror], [FX_WERROR=])
AC_SUBST([FX_WERROR])
])

dnl --enable-sanitizer=LIST: everything but libfxtrace.so, which lives in programs that have no
dnl sanitizer runtime.
AC_DEFUN([FX_ARG_SANITIZER], [
AC_ARG_ENABLE([sanitizer],
  [AS_HELP_STRING([--enable-sanitizer=LIST],
    [build all but libfxtrace.so with -fsanitize=LIST (address, undefined, thread)])],
  [], [enable_sanitizer=no])
AS_CASE([$enable_sanitizer],
  [no], [FX_SANITIZE=],
  [yes], [AC_MSG_ERROR([--enable-sanitizer needs a list, for example address,undefined])],
  [FX_SANITIZE="-fsanitize=$enable_sanitizer -fno-omit-frame-pointer -fno-sanitize-recover=all"])
AS_IF([test -n "$FX_SANITIZE"], [
  fx_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $FX_SANITIZE"
  AC_MSG_CHECKING([whether $CC links with $FX_SANITIZE])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$CC cannot link with -fsanitize=$enable_sanitizer])])
  CFLAGS=$fx_saved_CFLAGS
])
dnl GCC says of each fence that ThreadSanitizer does not see it; tests/tsan.supp says which matter.
AS_CASE([$enable_sanitizer],
  [*thread*], [FX_CHECK_CFLAG([FX_SANITIZE], [-Wno-tsan])])
AM_CONDITIONAL([TSAN], [AS_CASE([$enable_sanitizer], [*thread*], [:], [false])])
dnl Of a library that is linked by Clang with a sanitizer, the sanitizer's half comes with the program.
AS_IF([test -n "$FX_SANITIZE"], [FX_NO_UNDEFINED=], [FX_NO_UNDEFINED=-Wl,--no-undefined])
AC_SUBST([FX_NO_UNDEFINED])
AC_SUBST([FX_SANITIZE])
])

dnl --disable-unit-tests: `make check' without Criterion.
AC_DEFUN([FX_ARG_TESTS], [
AC_ARG_ENABLE([unit-tests],
  [AS_HELP_STRING([--disable-unit-tests], [leave out the tests that need Criterion])],
  [], [enable_unit_tests=yes])
AS_IF([test "$enable_unit_tests" != no], [
  PKG_CHECK_MODULES([CRITERION], [criterion], [],
    [AC_MSG_ERROR([Criterion not found (Debian: libcriterion-dev); --disable-unit-tests does without])])
])
dnl A second unwinder, for tests alone: it has no place in programs that are traced (preload/host/unwind.h).
AS_IF([test "$enable_unit_tests" != no], [
  PKG_CHECK_MODULES([LIBUNWIND], [libunwind],
    [AC_DEFINE([HAVE_LIBUNWIND], [1], [Define if tests can compare stacks with those of libunwind.])],
    [AC_MSG_WARN([libunwind not found (Debian: libunwind-dev): stacks are compared with libgcc's alone])])
])
AM_CONDITIONAL([UNIT_TESTS], [test "$enable_unit_tests" != no])
])

dnl FX_ARG_SYSTEMD(NAME, VARIABLE, DEFAULT, WHAT): where units of one kind are installed; no: nowhere.
AC_DEFUN([FX_ARG_SYSTEMD],
[AC_ARG_WITH([$1],
  [AS_HELP_STRING([--with-$1=DIR], [install $4 there; no: nowhere ($3)])],
  [], [with_$1=yes])
AS_CASE([$with_$1],
  [yes], [$2_DIR='$3'],
  [no], [$2_DIR=],
  [$2_DIR=$with_$1])
AC_SUBST([$2_DIR])
AM_CONDITIONAL([$2], [test -n "$$2_DIR"])])

dnl --with-python-dir: where the Python package is installed. By itself, where the Python that is there looks for packages
dnl below the prefix.
AC_DEFUN([FX_ARG_PYTHON], [
AC_ARG_WITH([python-dir],
  [AS_HELP_STRING([--with-python-dir=DIR], [install the Python package there; no: nowhere (where python3 looks below PREFIX)])],
  [], [with_python_dir=yes])
AS_IF([test "$with_python_dir" = yes], [
  AC_PATH_PROG([PYTHON3], [python3])
  with_python_dir=no
  AS_IF([test -n "$PYTHON3"], [
    AS_IF([test "$prefix" = NONE], [fx_python_prefix=$ac_default_prefix], [fx_python_prefix=$prefix])
    with_python_dir=`"$PYTHON3" -c '
import site, sys
words = iter(sys.argv)
next(words)
prefix = next(words).rstrip("/") + "/"
places = list(site.getsitepackages()) + list((site.getusersitepackages(),))
usual = prefix + "lib/python%d.%d/site-packages" % (sys.version_info.major, sys.version_info.minor)
place = next(filter(lambda place: place.startswith(prefix), places), usual)
print("${prefix}/" + place.replace(prefix, "", 1))' "$fx_python_prefix"` || with_python_dir=no
  ])
])
AS_IF([test "$with_python_dir" = no], [PYTHON_DIR=], [PYTHON_DIR=$with_python_dir])
AC_SUBST([PYTHON_DIR])
AM_CONDITIONAL([PYTHON_PACKAGE], [test -n "$PYTHON_DIR"])])

dnl SPDX-License-Identifier: MIT
dnl Whether GCC's plugin can be built: the C++ compiler is GCC, and the headers of its plugins are installed.
AC_DEFUN([FX_CHECK_GCC_PLUGIN], [
AC_ARG_ENABLE([gcc-plugin],
  [AS_HELP_STRING([--disable-gcc-plugin], [leave out the compiler plugin])],
  [], [enable_gcc_plugin=maybe])
fx_gcc_plugin=no
AS_IF([test "$enable_gcc_plugin" != no], [
  AC_MSG_CHECKING([for the headers of GCC's plugins])
  fx_plugin_include=`$CXX -print-file-name=plugin 2>/dev/null`/include
  AC_LANG_PUSH([C++])
  fx_saved_CPPFLAGS=$CPPFLAGS
  fx_saved_CXXFLAGS=$CXXFLAGS
  CPPFLAGS="$CPPFLAGS -isystem $fx_plugin_include"
  CXXFLAGS="$CXXFLAGS -fno-rtti"
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifdef __clang__
#error not GCC
#endif
#include <gcc-plugin.h>
#include <plugin-version.h>
#if GCCPLUGIN_VERSION_MAJOR != __GNUC__
#error headers of another release
#endif
]])], [fx_gcc_plugin=yes])
  CPPFLAGS=$fx_saved_CPPFLAGS
  CXXFLAGS=$fx_saved_CXXFLAGS
  AC_LANG_POP([C++])
  AC_MSG_RESULT([$fx_gcc_plugin])
])
AS_IF([test "$fx_gcc_plugin" = yes],
  [FX_PLUGIN_CPPFLAGS="-isystem $fx_plugin_include"],
  [AS_CASE([$enable_gcc_plugin],
    [yes], [AC_MSG_ERROR([the headers of GCC's plugins were not found (Debian: gcc-VERSION-plugin-dev)])],
    [maybe], [AC_MSG_WARN([no headers of GCC's plugins (Debian: gcc-VERSION-plugin-dev): the compiler plugin is left out])])])
AC_SUBST([FX_PLUGIN_CPPFLAGS])
AM_CONDITIONAL([GCC_PLUGIN], [test "$fx_gcc_plugin" = yes])
])

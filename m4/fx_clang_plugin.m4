dnl SPDX-License-Identifier: MIT
dnl Whether clang's plugin can be built: LLVM's headers of the release of the clang that is there, and what links with it.
AC_DEFUN([FX_CHECK_CLANG_PLUGIN], [
AC_ARG_VAR([LLVM_CONFIG], [llvm-config of the clang that the plugin is for])
AC_ARG_ENABLE([clang-plugin],
  [AS_HELP_STRING([--disable-clang-plugin], [leave out the plugin for clang])],
  [], [enable_clang_plugin=maybe])
fx_clang_plugin=no
AS_IF([test "$enable_clang_plugin" != no && test "$cross_compiling" = no], [
  fx_clang_release=`clang --version 2>/dev/null | $SED -n 's/^.*clang version \([[0-9]]*\)\..*/\1/p'`
  AS_IF([test "$fx_clang_release"], [AC_PATH_PROGS([LLVM_CONFIG], [llvm-config-$fx_clang_release llvm-config])])
  AC_MSG_CHECKING([for the headers of clang's plugins])
  AS_IF([test "$LLVM_CONFIG"], [
    FX_CLANG_PLUGIN_CPPFLAGS="-isystem `$LLVM_CONFIG --includedir` -D__STDC_CONSTANT_MACROS -D__STDC_LIMIT_MACROS"
    AC_LANG_PUSH([C++])
    fx_saved_CPPFLAGS=$CPPFLAGS
    fx_saved_CXXFLAGS=$CXXFLAGS
    CPPFLAGS="$CPPFLAGS $FX_CLANG_PLUGIN_CPPFLAGS"
    CXXFLAGS="$CXXFLAGS -std=gnu++17 -fno-rtti"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <llvm/Config/llvm-config.h>
#include <llvm/Passes/PassPlugin.h>
#if LLVM_VERSION_MAJOR != $fx_clang_release || LLVM_VERSION_MAJOR < 14
#error of another release, or too old
#endif
]])], [fx_clang_plugin=yes])
    CPPFLAGS=$fx_saved_CPPFLAGS
    CXXFLAGS=$fx_saved_CXXFLAGS
    AC_LANG_POP([C++])])
  AC_MSG_RESULT([$fx_clang_plugin])
])
AS_IF([test "$fx_clang_plugin$enable_clang_plugin" = noyes],
  [AC_MSG_ERROR([clang and the headers of its plugins were not found (Debian: clang, llvm-VERSION-dev)])])
AC_SUBST([FX_CLANG_PLUGIN_CPPFLAGS])
AM_CONDITIONAL([CLANG_PLUGIN], [test "$fx_clang_plugin" = yes])
])

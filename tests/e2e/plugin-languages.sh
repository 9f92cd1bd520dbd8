#!/bin/bash
# SPDX-License-Identifier: MIT
# GCC's plugin in its other languages: programs in Fortran, D and Ada do what they did, and each call that they have counted
# themselves is in the trace. What is not installed is left out.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so
[ -e "$PLUGIN" ] || skip "the plugin was not built"
not_sanitized "what it makes is the same"

cat >fortran.f90 <<'END'
module counts
  integer :: fibs = 0, works = 0
contains
  recursive integer function fib(n) result(r)
    integer, intent(in) :: n
    fibs = fibs + 1
    r = n
    if (n >= 2) r = fib(n - 1) + fib(n - 2)
  end function
  subroutine work(a)
    real, intent(inout) :: a(:)
    works = works + 1
    a = a * 2
  end subroutine
end module
program main
  use counts
  real :: a(10) = 1
  integer :: i, sum
  do i = 1, 3
    call work(a)
  end do
  call inner(4)
  sum = fib(10)
  print '(a,i0)', '__counts_MOD_fib ', fibs, '__counts_MOD_work ', works
  print '(a)', 'inner 5', 'MAIN__ 1'
contains
  recursive subroutine inner(n)
    integer, intent(in) :: n
    if (n > 0) call inner(n - 1)
  end subroutine
end program
END
cat >d.d <<'END'
import core.stdc.stdio;
int fibs, gets, thrown;
class Adder { int v; this(int x) { v = x; } int get(int k) { gets++; return v + k; } }
int fib(int n) { fibs++; return n < 2 ? n : fib(n - 1) + fib(n - 2); }
void thrower(int n) { thrown++; if (n == 0) throw new Exception("none"); thrower(n - 1); }
void main()
{
	auto adder = new Adder(3);
	int caught, sum;
	foreach (i; 0 .. 5) sum += adder.get(i);
	foreach (i; 0 .. 3) try thrower(3); catch (Exception e) caught++;
	sum += fib(10);
	printf("d.fib(int) %d\nd.Adder.get(int) %d\nd.thrower(int) %d\nD main %d\n", fibs, gets, thrown, caught / 3);
}
END
cat >ada_main.adb <<'END'
with Ada.Text_IO;
procedure Ada_Main is
   Fibs, Fails, Twices : Integer := 0;
   function Fib (N : Integer) return Integer is
   begin
      Fibs := Fibs + 1;
      if N < 2 then
         return N;
      end if;
      return Fib (N - 1) + Fib (N - 2);
   end Fib;
   procedure Fail (N : Integer) is
   begin
      Fails := Fails + 1;
      if N = 0 then
         raise Constraint_Error;
      end if;
      Fail (N - 1);
   end Fail;
   function Twice (N : Integer) return Integer is
   begin
      Twices := Twices + 1;
      return 2 * N;
   end Twice;
   task type Worker is
      entry Go;
   end Worker;
   task body Worker is
   begin
      accept Go do
         if Twice (Fib (5)) /= 10 then
            raise Program_Error;
         end if;
      end Go;
   end Worker;
   W : Worker;
   procedure Say (Name : String; Count : Integer) is
   begin
      Ada.Text_IO.Put_Line (Name & Integer'Image (Count));
   end Say;
begin
   W.Go;
   begin
      Fail (2);
   exception
      when Constraint_Error => null;
   end;
   if Fib (10) /= 55 then
      raise Program_Error;
   end if;
   Say ("ada_main__fib", Fibs);
   Say ("ada_main__fail", Fails);
   Say ("ada_main__twice", Twices);
end Ada_Main;
END

# A number that the compiler has put behind a name is left out.
counted() {
	"$FXTRACE" dump --json trace.fxt | python3 -c 'import collections, json, re, sys
calls = collections.Counter()
for r in map(json.loads, sys.stdin):
    if r["kind"] == "event" and r["category"] == "function" and r["type"] in ("complete", "duration-begin"):
        calls[re.sub(r"\.[0-9]+$", "", r["name"])] += 1
for name, count in sorted(calls.items()):
    print(name, count)'
}

# make LANGUAGE OUT OPTION...
make_fortran() {
	gfortran -o "$@" fortran.f90
}

make_d() {
	gdc -o "$@" d.d
}

make_ada() {
	gnatmake -q -f -o "$1" ada_main.adb -cargs "${@:2}" -largs "${@:2}"
}

tried=0
for language in fortran d ada; do
	case $language in
	fortran) command -v gfortran ;;
	d) command -v gdc ;;
	ada) command -v gnatmake ;;
	esac >/dev/null || { echo "there is no compiler of $language"; continue; }
	# All functions, as they stand in the source; and what is left of them: the rest may be inlined.
	for way in '-O0' '-O2 -fplugin-arg-fxtrace-when=early' '-O2' '-O2 -flto'; do
		# shellcheck disable=SC2086 # several options
		"make_$language" plain ${way/-fplugin-arg-fxtrace-when=early/} >made 2>&1 &&
			"make_$language" "with" -fplugin="$PLUGIN" $way >made 2>&1 || fail "$language $way: $(cat made)"
		./plain >plain.out || fail "$language $way: status $?"
		expect_unharmed 0 ./with
		expect_same_file plain.out traced.out
		counted >counted
		case $way in
		-O0 | *early) grep -vxFf counted traced.out && fail "$language $way: not what it counted: $(cat counted)" ;;
		*) [ -s counted ] || fail "$language $way: no calls" ;;
		esac
		tried=$((tried + 1))
	done
done
[ "$tried" -gt 0 ] || skip "GCC has no other languages here"
echo "$tried ways"

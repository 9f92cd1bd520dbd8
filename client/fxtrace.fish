# SPDX-License-Identifier: MIT
# Completion of fxtrace, fxtrace-run and fxtrace-manager for fish. What there is to complete it asks
# the program (client/completion.h).

# The words of an answer with their help, each behind PREFIX.
function __fxtrace_ask --argument-names program prefix
    command $program help $argv[3..] 2>/dev/null | string replace -r -- '^([^\t]*)(\t.*)?\t' "$prefix"'$1\t'
end

function __fxtrace_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -l name

    if string match -q -r 'fxtrace-[a-z]+$' -- $program
        set name (string match -r '[a-z]+$' -- $program)
        set program (string replace -r -- '-[a-z]+$' '' $program)
    else if test (count $words) -eq 1
        if string match -q -- '-*' $current
            printf '%s\n' --help --version
        else
            __fxtrace_ask $program '' --commands
        end
        return
    else
        set name $words[2]
    end
    if test "$name" = help
        test (count $words) -ne 2; or __fxtrace_ask $program '' --commands
        return
    end
    if set -l at (contains -i -- -- $words)
        # What follows is a command line of its own.
        complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..]) $current)
        return
    end
    set -l found
    set -l parts (string match -r '^(--[a-z-]+)=((?:.*,)?)' -- $current)
    if test (count $parts) -eq 3
        set found (__fxtrace_ask $program "$parts[2]=$parts[3]" --values $name $parts[2])
    else if string match -q -- '-*' $current
        set found (__fxtrace_ask $program '' --options $name)
    else if string match -q -- '-*' $words[-1]
        set found (__fxtrace_ask $program (string match -r '^.*,' -- $current; or echo '') --values $name $words[-1])
    end
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path $current
    end
end

for name in fxtrace fxtrace-run fxtrace-manager
    complete -c $name -f -a '(__fxtrace_complete)'
end

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks the files and functions that SECURITY, CONTRIBUTING, HACKING and the pages of docs/ name: each file exists, and each
# function, written `name ()`, is defined in the file that the page names last before it.
: "${SATIN_SOURCE:?the source folder}"
. "$SATIN_SOURCE/tests/tap.sh"

# look_up PAGE ROOT: prints a line for each wrong name in PAGE.
look_up ()
{
  local token file='' rest
  grep -oE '[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+|[A-Za-z0-9_-]+\.(c|h|sh|def)\b|\b[a-z_][a-z0-9_]* \(\)' "$1" | while read -r token rest; do
    token=${token%.}
    if [ "$rest" = '()' ]; then
      [ -n "$file" ] && grep -qE "^$token \\(|^(static )?inline .*\\b$token \\(|^#define $token\\b" "$2/$file" || echo "$token () is not in '$file'"
    elif [[ $token =~ ^(satin|coordinator|storage|tests|apps|docs)/ ]]; then
      [ -e "$2/$token" ] || echo "there is no $token"
      file=$token
    fi
  done
}

seen=0
for page in "$SATIN_SOURCE"/SECURITY "$SATIN_SOURCE"/CONTRIBUTING "$SATIN_SOURCE"/HACKING "$SATIN_SOURCE"/docs/{architecture,protocol,engine,by-hand}; do
  wrong=$(look_up "$page" "$SATIN_SOURCE")
  is "${page##*/} names only what exists" "$wrong" ""
  seen=$((seen + $(grep -coE '\b[a-z_][a-z0-9_]* \(\)' "$page")))
done
is "there are functions to look up" "$((seen >= 20))" 1

# A page with wrong names.
bad=$(mktemp)
printf 'satin/node/no-such.c and coordinator/mark.c: mark_make (), mark_nothing ()\n' >"$bad"
is "wrong names are reported" "$(look_up "$bad" "$SATIN_SOURCE")" "there is no satin/node/no-such.c
mark_nothing () is not in 'coordinator/mark.c'"
rm -f "$bad"
finish

# SPDX-License-Identifier: BSD-3-Clause
# TAP for the scripts that test the tools of this folder. Sourced by bash; the end-to-end tests have e2e/lib.sh.
count=0 failures=0

is () # NAME GOT WANTED
{
  count=$((count + 1))
  if [ "$2" = "$3" ]; then
    echo "ok $count - $1"
  else
    failures=$((failures + 1))
    echo "not ok $count - $1"
    sed 's/^/# got:    /' <<<"$2"
    sed 's/^/# wanted: /' <<<"$3"
  fi
}

# The plan is printed last, so a script that ends early prints none, which is an error.
finish ()
{
  echo "1..$count"
  [ "$failures" -eq 0 ]
  exit
}

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `satin view`: which requests its server answers, what it sends of a live run and of a checkpoint, and the page as one file.
# Without a browser (view-browser.sh) and without curl: the script writes the requests itself.
. "$(dirname "$0")/lib.sh"
file=$work/c.satin

choose_heavy
nap=("$SATIN_BIN/sleep" $((600 * 1000)) --depth 0)

# ask REQUEST-LINE [HEADER…]: sets $answer to the whole reply of the server at $port.
ask ()
{
  local line
  exec 5<>"/dev/tcp/127.0.0.1/$port" || return
  { for line in "$@" ''; do printf '%s\r\n' "$line"; done; } >&5
  answer=$(timeout $((20 * slow)) cat <&5 | tr -d '\r\0')
  exec 5>&-
}
status_of () { head -n 1 <<<"$answer" | cut -d ' ' -f 2; }
host () { echo "Host: 127.0.0.1:$port"; }
# stream FILE: writes to FILE what the stream of events sends.
stream ()
{
  exec 5<>"/dev/tcp/127.0.0.1/$port"
  printf 'GET /events HTTP/1.1\r\n%s\r\n%s\r\n\r\n' "$(host)" "$cookie" >&5
  timeout $((60 * slow)) cat <&5 >"$1" &
  streamer=$!
  exec 5>&-
}
has_url () { grep -q '^http://127.0.0.1:[0-9]*/?token=[0-9a-f]\{64\}$' "$work/url"; }

begin "$satin" run -n 2 -w 1 --name 'v1' --checkpoint "$file" --interval 0.2 -- "${heavy[@]}"
ok "two nodes are up" wait_for $((10 * slow)) up v1 2
"$satin" view v1 >"$work/url" 2>"$work/view.words" &
viewer=$!
ok "the address is printed, with a token" wait_for $((10 * slow)) has_url
url=$(cat "$work/url") port=${url#http://127.0.0.1:} token=${url#*token=}
port=${port%%/*}
ok "the command for ssh is printed, too" grep -q "ssh -N -L $port:127.0.0.1:$port " "$work/view.words"
ok "it listens on 127.0.0.1 alone" [ "$(grep -ic " [0-9A-F]*:$(printf %04X "$port") 0*:0000 0A" /proc/net/tcp)" = 1 ]
ok "… at the printed port" grep -qi " 0100007F:$(printf %04X "$port") " /proc/net/tcp

ask 'GET / HTTP/1.1' "$(host)"
is "without the token nothing is shown" "$(status_of)" 403
ask "GET /?token=${token%?}x HTTP/1.1" "$(host)"
is "nor with another token" "$(status_of)" 403
ask "GET /?token=$token HTTP/1.1" "Host: evil.example:$port"
is "nor under another host name" "$(status_of)" 403
ask "POST /?token=$token HTTP/1.1" "$(host)"
is "POST is refused" "$(status_of)" 405
exec 5<>"/dev/tcp/127.0.0.1/$port"
head -c 8192 /dev/zero | tr '\0' x >&5
answer=$(timeout $((20 * slow)) cat <&5 | tr -d '\r\0')
exec 5>&-
is "a request that does not end is refused when it is long" "$(status_of)" 431
ask "GET /?token=$token HTTP/1.1" "$(host)"
is "the token is exchanged" "$(status_of)" 303
ok "… for a cookie that scripts and other sites cannot read" \
  grep -q "^Set-Cookie: satin_view_$port=[0-9a-f]\{64\}; Path=/; HttpOnly; SameSite=Strict$" <<<"$answer"
cookie="Cookie: $(sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p' <<<"$answer")"
ask 'GET / HTTP/1.1' "$(host)" "$cookie"
is "with the cookie there is a page" "$(status_of)" 200
ok "of this run" grep -q '<title>v1 - satin</title>' <<<"$answer"
ok "that may fetch only from this server" grep -q "^Content-Security-Policy: default-src 'none'; script-src 'self';" <<<"$answer"
ok "whose type is not guessed" grep -qx 'X-Content-Type-Options: nosniff' <<<"$answer"
for part in page.js page.css; do
  ask "GET /$part HTTP/1.1" "$(host)" "$cookie"
  is "there is $part" "$(status_of):$(tail -n +2 <<<"$answer" | sed '1,/^$/d' | wc -c)" \
    "200:$(($(wc -c <"$SATIN_SOURCE/satin/command/view/$part") + 0))"
done
ask 'GET /../../etc/passwd HTTP/1.1' "$(host)" "$cookie"
is "there is no other file" "$(status_of)" 404
ask 'GET / HTTP/1.1' "$(host)" "$cookie" 'Sec-Fetch-Site: cross-site'
is "another site's page gets nothing, even with the cookie" "$(status_of)" 403
ask 'GET /boxes HTTP/1.1' "$(host)" "$cookie" 'Origin: http://evil.example'
is "… nor does a request from another origin" "$(status_of)" 403

stream "$work/events"
ok "the stream begins with the whole state" wait_for $((20 * slow)) grep -q '^data: {"kind":"whole","name":"v1","state":"running"' "$work/events"
ok "… goes on" wait_for $((20 * slow)) grep -q '^data: {"kind":"tick"' "$work/events"
ok "… shows how busy the nodes are" wait_for $((30 * slow)) grep -q '"did":"[1-9][1-9]"' "$work/events"
ok "… and has the ledger" wait_for $((30 * slow)) grep -q '^data: {"kind":"ledger".*"kind":"joined"' "$work/events"
ok "with a history of the share done" wait_for $((30 * slow)) grep -q '"progress":\[\[[0-9]*,' "$work/events"
has_boxes () { ask 'GET /boxes?path=%2F HTTP/1.1' "$(host)" "$cookie"; grep -q '"k":"saved","n":[0-9]*.*"value":"' <<<"$answer"; }
ok "there are boxes of saved jobs" wait_for $((30 * slow)) has_boxes
path=$(grep -o '"k":"saved"[^{]*' <<<"$answer" | grep -o '"p":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
ask "GET /boxes?path=${path//\//%2F}&w=0.01 HTTP/1.1" "$(host)" "$cookie"
ok "a request can ask for one of them" grep -qF "\"p\":\"$path\"" <<<"$answer"
ask 'GET /boxes?path=x HTTP/1.1' "$(host)" "$cookie"
is "… but not for a wrong path" "$(status_of)" 404
try "$satin" suspend v1
ended
is "the run goes on and is suspended" "$code" 75
ok "the view shows that" wait_for $((30 * slow)) grep -q '"state":"over","sentence":"suspended' "$work/events"
kill "$viewer" "$streamer" 2>/dev/null
wait "$viewer" "$streamer" 2>/dev/null

# One file, of a checkpoint.
try "$satin" view "$file" --html "$work/page.html"
is "a checkpoint is written as one file" "$code" 0
ok "which has its tree" grep -q '"boxes":{"top":{"k":"work","n":0,"w":1' "$work/page.html"
ok "and its ledger" grep -q '"kind":"suspended\|"kind":"ended"' "$work/page.html"
ok "and fetches nothing" [ "$(grep -cE '<link|src=|url\(|@import' "$work/page.html")" = 0 ]

# A live run with hostile texts: a folder is called "<".
mkdir "$work/<"
begin "$satin" run -n 1 -w 1 --name bare --checkpoint "$work/</script><script>alert(1)é.satin" -- "${nap[@]}"
ok "a node is up" wait_for $((10 * slow)) up bare 1
try "$satin" view bare --html "$work/bare.html"
is "a live run is written as one file" "$code" 0
is "no text of the run ends a script of the page" "$(grep -o '</script>' "$work/bare.html" | wc -l)" 2
ok "… and the texts are all there" grep -q '\\u003c/script\\u003e\\u003cscript\\u003ealert(1)é.satin' "$work/bare.html"
"$satin" cancel bare 2>/dev/null
ended

for bad in "view" "view a b" "view --html"; do
  # shellcheck disable=SC2086
  try "$satin" $bad
  is "satin $bad is refused" "$code" 2
done
try "$satin" view "$work/nothing-here"
is "a missing checkpoint is reported" "$code:$(wc -l <<<"$words")" "4:1"
try "$satin" view nobody
is "for a bare word the message names run and checkpoint" "$code:$(grep -c "there is no run 'nobody' here .* and no checkpoint at '.*/nobody'" <<<"$words")" "1:1"
finish

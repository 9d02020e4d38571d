#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The page of `satin view` in Chromium, driven by ChromeDriver (WebDriver, with curl): what a user sees. SHOT=FILE keeps a
# picture.
. "$(dirname "$0")/lib.sh"
[ -n "${SATIN_BROWSER-}" ] || { echo "1..0 # SKIP a browser is slow: make view-browser"; exit 0; }
for tool in chromium chromedriver curl python3; do
  command -v $tool >/dev/null 2>&1 || { echo "1..0 # SKIP there is no $tool"; exit 0; }
done
file="$work/</script><script>document.title='hit'é.satin"
mkdir "$work/<"

# driver METHOD PATH [JSON]: sets $value to the value of the reply: a string as it is, anything else as JSON.
driver ()
{
  curl -s -m $((120 * slow)) -X "$1" -H 'Content-Type: application/json' ${3+-d "$3"} "http://127.0.0.1:$driver_port$2" >"$work/reply"
  value=$(python3 -c 'import json, sys
value = json.load (sys.stdin)["value"]
print (value if isinstance (value, str) else json.dumps (value, ensure_ascii=False))' <"$work/reply" 2>/dev/null)
}
# run SCRIPT: runs SCRIPT in the page and sets $value to what it returns.
run ()
{
  driver POST "/session/$session/execute/sync" "$(python3 -c 'import json, sys
print (json.dumps ({"script": sys.argv[1], "args": []}))' "$1")"
}
is_true () { run "return ($1) === true"; [ "$value" = true ]; }
sees () { is_true "document.body.innerText.includes (\`$1\`)"; }
go () { driver POST "/session/$session/url" "{\"url\":\"$1\"}"; }

chromedriver --port=0 >"$work/driver.log" 2>&1 &
has_driver () { driver_port=$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' "$work/driver.log"); [ -n "$driver_port" ]; }
wait_for $((30 * slow)) has_driver
driver POST /session '{"capabilities":{"alwaysMatch":{"browserName":"chrome","goog:loggingPrefs":{"browser":"ALL"},"goog:chromeOptions":{"binary":"'"$(command -v chromium)"'","args":["--headless","--no-sandbox","--disable-gpu","--disable-quic","--no-first-run","--disable-background-networking","--disable-component-update","--disable-sync","--window-size=1240,1340","--user-data-dir='"$work"'/profile"]}}}}'
session=$(python3 -c 'import json, sys; print (json.load (sys.stdin)["value"]["sessionId"])' <"$work/reply" 2>/dev/null)
[ -n "$session" ] || { echo "1..0 # SKIP Chromium does not start here"; exit 0; }

choose_heavy
begin "$satin" run -n 3 -w 1 --name seen --checkpoint "$file" --interval 0.2 -- "${heavy[@]}"
ok "three nodes are up" wait_for $((10 * slow)) up seen 3
"$satin" view seen >"$work/url" 2>/dev/null &
viewer=$!
wait_for $((10 * slow)) test -s "$work/url"
url=$(cat "$work/url")
go "$url"
ok "the page shows the run" wait_for $((30 * slow)) sees running
ok "the token is not in its address" is_true "location.search === '' && location.pathname === '/'"
ok "nor can scripts read the cookie" is_true "document.cookie === ''"
ok "it shows the share done" wait_for $((30 * slow)) is_true "/^[0-9.]+ %\$/.test (document.getElementById ('done').innerText)"
ok "and how many workers are busy" wait_for $((30 * slow)) is_true "/^[0-3] of 3\$/.test (document.getElementById ('busy').innerText)"
ok "there is a lane for each node" wait_for $((30 * slow)) is_true "document.querySelectorAll ('.site svg text').length === 3"
ok "with what the node did" wait_for $((30 * slow)) is_true "document.querySelectorAll ('.site svg path.n').length > 0"
ok "a curve of progress" wait_for $((30 * slow)) is_true "document.querySelectorAll ('#progress path.curve').length === 1"
ok "and a tree with saved jobs" wait_for $((30 * slow)) is_true "document.querySelectorAll ('#icicle rect.b-saved').length > 0"
ok "no box exceeds the picture" is_true "[...document.querySelectorAll ('#icicle rect.box')].every (r => r.x.baseVal.value >= -1 && r.x.baseVal.value + r.width.baseVal.value <= document.getElementById ('icicle').viewBox.baseVal.width + 1)"
run "document.querySelector ('#icicle rect.b-saved').parentNode.dispatchEvent (new MouseEvent ('click', { bubbles: true }))"
ok "a click on a box shows its result and its node" is_true "/result[^]* = [^]*computed by[^]*1\\.[123][^]*saved at/.test (document.getElementById ('job').innerText)"
ok "… its arguments, when it began and how long it ran" is_true "/arguments\\s*\\[[-0-9,]*\\][^]*began at[^]*, took/.test (document.getElementById ('job').innerText)"
run "document.querySelector ('#icicle rect.b-work').parentNode.dispatchEvent (new MouseEvent ('dblclick', { bubbles: true }))"
pid=$(other_of seen)
kill -STOP "$pid"
ok "a stopped node is named as silent" wait_for $((20 * slow)) is_true "/Node 1\\.[23] is silent: stopped, or not to be reached\\./.test (document.getElementById ('why').innerText)"
kill -9 "$pid"
ok "a node that dies is shown as gone" wait_for $((60 * slow)) is_true "document.querySelectorAll ('.site svg path.nx').length > 0 && document.getElementById ('sites').innerText.includes ('1 gone')"
ok "and is among the events" wait_for $((60 * slow)) is_true "document.querySelectorAll ('#events tr.bad').length > 0"
[ -n "${SHOT-}" ] && driver GET "/session/$session/screenshot" && base64 -d <<<"$value" >"$SHOT"
ok "a hostile text is shown as text" sees "</script><script>document.title='hit'é.satin"
ok "… and has no effect" is_true "document.title === 'seen - satin' && document.querySelectorAll ('script').length === 1"
ok "the page is not wider than the window" is_true "document.documentElement.scrollWidth <= innerWidth"
port=${url#http://127.0.0.1:} port=${port%%/*}
go "http://localhost:$port/"
ok "another name of this host needs the token, too" wait_for $((20 * slow)) sees "this request is refused"

# A page of another site.
cat >"$work/evil.html" <<END
<body><script>
fetch ('http://127.0.0.1:$port/boxes', { credentials: 'include', mode: 'no-cors' })
  .then (r => r.text ()).then (t => { document.body.textContent = 'read ' + t.length; }, e => { document.body.textContent = 'refused'; });
</script>
END
go "file://$work/evil.html"
ok "another site's page reads nothing" wait_for $((20 * slow)) is_true "/^(refused|read 0)/.test (document.body.textContent.trim ())"

try "$satin" view seen --html "$work/page.html"
go "file://$work/page.html"
ok "the page as a file shows the same" wait_for $((20 * slow)) is_true "document.querySelectorAll ('#icicle rect.b-saved').length > 0 && document.querySelectorAll ('#events tr').length > 3"
ok "its styles are applied" is_true "getComputedStyle (document.querySelector ('.card')).borderRadius === '10px'"
ok "hostile texts are shown as text there, too" is_true "document.title === 'seen - satin' && document.querySelectorAll ('script').length === 2"
run "document.querySelector ('#icicle rect.b-work').parentNode.dispatchEvent (new MouseEvent ('dblclick', { bubbles: true }))"
driver DELETE "/session/$session"
finished
is "the run is not disturbed" "$code:$answer" "0:$heavy_answer"
kill "$viewer" 2>/dev/null
finish

/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of `satin view`. Every text of a run goes into the page by textContent, so it is shown as text. */
'use strict';
(function () {
const $ = id => document.getElementById(id);
const SVG = 'http://www.w3.org/2000/svg';
let S = null;          // what view-model.c says
let L = null;          // what view-tree.c says
let B = null;          // the boxes of the job tree
let crumbs = [];       // the jobs gone down through: {p, w}
let picked = null;     // the path of the chosen box
let isFile = false, lost = false;

function make (name, attributes, text, parent) {
  const e = document.createElementNS (SVG, name);
  for (const key in attributes) e.setAttribute (key, attributes[key]);
  if (text !== undefined && text !== null) e.textContent = text;
  if (parent) parent.appendChild (e);
  return e;
}
function add (parent, name, text, className) {
  const e = document.createElement (name);
  if (text !== undefined && text !== null) e.textContent = text;
  if (className) e.className = className;
  parent.appendChild (e);
  return e;
}
function say (id, text) { const e = $ (id); if (e.textContent !== text) e.textContent = text; }
const known = x => typeof x === 'number' && isFinite (x);
const plural = (n, word) => n + ' ' + word + (n === 1 ? '' : 's');
function percent (x, digits) { return (100 * x).toFixed (digits === undefined ? (x < 0.1 ? 2 : 1) : digits) + ' %'; }
function duration (s) {
  if (!known (s)) return '–';
  if (s < 10) return s.toFixed (1) + ' s';
  if (s < 120) return Math.round (s) + ' s';
  if (s < 7200) return Math.round (s / 60) + ' min';
  if (s < 172800) return (s / 3600).toFixed (1) + ' h';
  return (s / 86400).toFixed (1) + ' d';
}
function clock (at, full) {
  const d = new Date (at * 1000), two = n => String (n).padStart (2, '0');
  const time = two (d.getHours ()) + ':' + two (d.getMinutes ()) + ':' + two (d.getSeconds ());
  return full ? d.getFullYear () + '-' + two (d.getMonth () + 1) + '-' + two (d.getDate ()) + ' ' + time : time;
}
const ago = at => duration (Math.max (0, S.now - at)) + ' ago';
const last = a => a.length ? a[a.length - 1] : null;

/* Share done over time: what the ledger remembers from before this view, then what the view saw. */
function progressPoints () {
  const h = S.history, first = h.at.length ? h.at[0] : Infinity, points = [];
  if (L && !L.older && L.events.length && L.events[0].at < first) points.push ([L.events[0].at, 0]); // it began with nothing
  for (const [at, share] of (L ? L.progress : [])) if (at < first) points.push ([at, share]);
  for (let i = 0; i < h.at.length; i++) if (known (h.done[i])) points.push ([h.at[i], h.done[i]]);
  if (L && L.finished && L.events.length && points.length && last (points)[1] < 1) points.push ([last (L.events).at, 1]);
  return points.sort ((a, b) => a[0] - b[0]);
}
function doneNow () {
  const d = last (S.history.done);
  if (known (d)) return d;
  if (S.state === 'over' && L) return L.finished ? 1 : L.done;
  return null;
}

/* A chart of lines in one unit: [{points, className, area}]. */
function chart (svg, lines, top, label) {
  const w = svg.clientWidth || 600, h = svg.clientHeight || 150, left = 44, bottom = h - 18;
  svg.replaceChildren ();
  svg.setAttribute ('viewBox', '0 0 ' + w + ' ' + h);
  const all = lines.flatMap (l => l.points);
  if (all.length < 1) { make ('text', { x: left, y: h / 2 }, 'nothing is known yet', svg); return; }
  let t0 = Infinity, t1 = -Infinity;
  for (const p of all) { t0 = Math.min (t0, p[0]); t1 = Math.max (t1, p[0]); }
  if (t1 - t0 < 1) t0 = t1 - 1;
  const x = t => left + (t - t0) / (t1 - t0) * (w - left - 6), y = v => bottom - v / top * (bottom - 8);
  for (let i = 0; i <= 4; i += 2) {
    make ('line', { class: 'grid', x1: left, x2: w - 6, y1: y (top * i / 4), y2: y (top * i / 4) }, null, svg);
    make ('text', { x: left - 6, y: y (top * i / 4) + 4, 'text-anchor': 'end' }, label (top * i / 4), svg);
  }
  make ('text', { x: left, y: h - 3 }, clock (t0), svg);
  make ('text', { x: w - 6, y: h - 3, 'text-anchor': 'end' }, clock (t1), svg);
  for (const line of lines) {
    if (!line.points.length) continue;
    const d = line.points.map ((p, i) => (i ? 'L' : 'M') + x (p[0]).toFixed (1) + ' ' + y (Math.min (p[1], top)).toFixed (1)).join ('');
    if (line.area) make ('path', { class: 'area', d: d + 'L' + x (last (line.points)[0]).toFixed (1) + ' ' + bottom + 'L' + x (line.points[0][0]).toFixed (1) + ' ' + bottom + 'Z' }, null, svg);
    make ('path', { class: 'curve ' + (line.className || ''), d }, null, svg);
  }
}

function renderAnswers () {
  const done = doneNow (), h = S.history;
  say ('done', known (done) ? percent (done) : 'unknown');
  const bar = $ ('bar');
  bar.replaceChildren ();
  if (known (done)) make ('rect', { width: 100 * Math.min (1, done), height: 1 }, null, bar);
  const points = progressPoints ();
  let more = known (done) ? '' : 'measured only with a checkpoint';
  if (known (done) && points.length > 1 && S.state === 'running') {
    const now = last (points);
    let from = points[0];
    for (const p of points) if (p[0] <= now[0] - 60) from = p;
    if (now[0] > from[0]) more = percent (60 * (now[1] - from[1]) / (now[0] - from[0]), 2) + ' a minute';
  }
  if (S.started) more = (more ? more + ', ' : '') + 'for ' + duration (S.now - Date.parse (S.started) / 1000);
  say ('done-more', more);
  const over = S.state === 'over';
  say ('left', over ? 'over' : known (S.left_s) ? 'about ' + duration (S.left_s) : 'not yet');
  say ('left-more', over ? S.sentence || '' : known (S.left_low_s) && known (S.left_high_s)
    ? 'probably ' + duration (S.left_low_s) + ' to ' + duration (S.left_high_s)
    : known (S.left_s) ? '' : 'too little is finished for an estimate');
  const busy = last (h.busy), workers = last (h.workers), up = last (h.up);
  say ('busy', over || !known (workers) ? '–' : (known (busy) ? busy : '?') + ' of ' + workers);
  say ('busy-more', over || !known (up) ? '' : plural (up, 'node') + ' on ' + plural (sites ().size, 'site'));
  say ('risk', over ? '–' : duration (last (h.one_s)));
  say ('risk-more', over ? '' : 'if one node dies; ' + duration (last (h.all_s)) + ' if all do');
}

function renderWhy () {
  const list = $ ('why'), h = S.history, out = [];
  const put = (kind, text) => out.push ([kind, text]);
  if (lost) put ('bad', 'The view itself does not answer any more; this page shows its last state.');
  if (S.state === 'over') put ('', 'The run is over: ' + (S.sentence || 'nothing more is known') + '.');
  if (S.state === 'starting') put ('', 'The run is starting: no node listens yet.');
  if (S.state === 'silent') put ('bad', 'No node has answered for ' + duration (S.silentFor) + '.');
  if (S.state === 'running' && h.at.length) {
    let busy = 0, workers = 0, n = 0;
    for (let i = Math.max (0, h.at.length - 10); i < h.at.length; i++)
      if (known (h.busy[i])) { busy += h.busy[i]; workers += h.workers[i]; n++; }
    const share = workers ? busy / workers : 0, of = Math.round (busy / n) + ' of ' + Math.round (workers / n) + ' workers';
    if (!n) put ('', 'The nodes have not told yet how busy they are.');
    else if (share >= 0.9) put ('', 'Nearly all workers are busy: the run is as fast as these nodes make it.');
    else if (share >= 0.6) put ('', of + ' are busy; the others look for work.');
    else put ('warn', 'Only ' + of + ' have work: the jobs at hand are too few or too large to share.');
    const idle = idleSites ();
    if (share >= 0.2 && idle.length) put ('warn', 'No work at ' + idle.map (s => 'site ' + s).join (', ') + '.');
    const still = stillFor ();
    if (still > 60 && share > 0.2) put ('warn', 'No new result for ' + duration (still) + ': the jobs that run are large.');
  }
  const quiet = S.lanes.filter (l => !l.gone && l.roles.includes ('s'));
  if (S.state === 'running' && quiet.length)
    put ('warn', (quiet.length === 1 ? 'Node ' + quiet[0].id + ' is' : plural (quiet.length, 'node') + ' are') + ' silent: stopped, or not to be reached.');
  const gone = S.lanes.filter (l => l.gone > 0 && S.now - l.gone < 120);
  if (S.state === 'running' && gone.length)
    put ('warn', gone.length === 1 ? 'Node ' + gone[0].id + ' went ' + ago (gone[0].gone) + '.' : plural (gone.length, 'node') + ' went in the last two minutes.');
  if (L && L.lost_s > 0) put ('warn', 'Crashes have cost ' + duration (L.lost_s) + ' of work: ' + plural (L.lost_jobs, 'job') + ' went back.');
  if (L && L.damage) put ('bad', 'The checkpoint is damaged: ' + L.damage);
  if (!S.checkpoint && !L && S.state === 'running')
    put ('', 'There is no checkpoint, so nobody measures the share done. `satin save ' + S.name + ' --to FILE` gives the run one.');
  list.replaceChildren ();
  for (const [kind, text] of out) add (list, 'li', text, kind);
}
function stillFor () {
  const h = S.history;
  let i = h.done.length - 1;
  if (!known (h.done[i])) return 0;
  while (i > 0 && h.done[i - 1] === h.done[i]) i--;
  return h.at[h.at.length - 1] - h.at[i];
}
function sites () {
  const all = new Map ();
  for (const lane of S.lanes) { const s = lane.site || ''; if (!all.has (s)) all.set (s, []); all.get (s).push (lane); }
  return all;
}
function idleSites () {
  const idle = [];
  for (const [site, lanes] of sites ()) {
    const up = lanes.filter (l => !l.gone);
    if (site && up.length && up.every (l => /^0{5}$/.test (l.did.slice (-5)))) idle.push (site);
  }
  return idle;
}

const CLASSES = { '?': 'nq', 'x': 'nx', '0': 'n0' };
function laneText (lane) {
  const roles = (lane.roles.includes ('m') ? ', master' : '') + (lane.roles.includes ('c') ? ', coordinator' : '') + (lane.roles.includes ('l') ? ', leaving' : '') + (lane.roles.includes ('s') && !lane.gone ? ', silent' : '');
  return lane.id + ' on ' + (lane.host || '?') + ', process ' + lane.pid + ', ' + plural (lane.workers, 'worker') + roles + (lane.gone ? ', gone since ' + clock (lane.gone) : '');
}
/* A path for each shade, not a box for each moment: a thousand lanes stay quick. */
function lanes (svg, all, n) {
  const tall = all.length <= 24 ? 18 : all.length <= 80 ? 10 : all.length <= 300 ? 5 : 3, gap = tall > 6 ? 2 : 1;
  const label = tall >= 10 ? 190 : 0, w = svg.clientWidth || 1100, step = (w - label) / Math.max (n, 30), from = w - n * step, paths = {};
  const height = all.length * tall;
  svg.setAttribute ('viewBox', '0 0 ' + w + ' ' + height);
  svg.style.height = height + 'px';
  svg.replaceChildren ();
  all.forEach ((lane, row) => {
    const y = row * tall, did = lane.did;
    for (let i = 0, k; i < did.length; i = k) {
      for (k = i + 1; k < did.length && did[k] === did[i]; k++);
      if (did[i] === ' ') continue;
      paths[did[i]] = (paths[did[i]] || '') + 'M' + (from + i * step).toFixed (1) + ' ' + y + 'h' + ((k - i) * step).toFixed (1) + 'v' + (tall - gap) + 'H' + (from + i * step).toFixed (1) + 'Z';
    }
    if (label) make ('text', { x: 0, y: y + tall / 2 + 3 }, (lane.id + ' ' + (lane.host || '')).slice (0, 24) + (lane.roles.includes ('m') ? ' ★' : '') + (lane.roles.includes ('c') ? ' ◆' : ''), svg);
  });
  for (const c in paths) make ('path', { class: CLASSES[c] || 'n n' + c, d: paths[c] }, null, svg);
  svg.onmousemove = event => { const lane = all[Math.floor (event.offsetY / tall)]; if (lane) say ('lane', laneText (lane)); };
}
/* A run that nobody watched has only the times of its nodes. */
function ledgerLanes () {
  if (!L) return [];
  const t0 = Math.min (...L.nodes.map (n => n.joined || Infinity)), end = L.events.length ? last (L.events).at : L.read, t1 = Math.max (t0 + 1, end), n = 120;
  return L.nodes.filter (x => x.joined).map (x => {
    const a = Math.floor ((x.joined - t0) / (t1 - t0) * n), b = Math.ceil (((x.left || t1) - t0) / (t1 - t0) * n);
    const crashed = x.left && /gone|silent/.test (x.cause || '');
    return { id: x.node, host: x.host, site: x.site, pid: '?', workers: '?', roles: '', gone: x.left, did: ' '.repeat (a) + '6'.repeat (Math.max (1, b - a)) + (crashed ? 'x' : ' ').repeat (Math.max (0, n - Math.max (b, a + 1))) };
  });
}
function renderNodes () {
  const box = $ ('sites'), map = S.lanes.length ? sites () : new Map ();
  let n = S.history.at.length;
  if (!S.lanes.length) { for (const l of ledgerLanes ()) { const s = l.site || ''; if (!map.has (s)) map.set (s, []); map.get (s).push (l); } n = 120; }
  while (box.children.length > map.size) box.lastChild.remove ();
  let i = 0;
  for (const [site, all] of [...map].sort ((a, b) => a[0] < b[0] ? -1 : 1)) {
    let part = box.children[i++];
    if (!part) { part = add (box, 'div', null, 'site'); add (part, 'h3'); part.appendChild (make ('svg', {})); }
    const up = all.filter (l => !l.gone), busy = up.filter (l => /[1-9]/.test (l.did.slice (-1))).length, crashed = all.length - up.length;
    part.firstChild.textContent = (site ? 'site ' + site : map.size > 1 ? 'no site' : 'all nodes') + ': '
      + (S.lanes.length && S.state !== 'over' ? up.length + ' up, ' + busy + ' busy' + (crashed ? ', ' + crashed + ' gone' : '') : plural (all.length, 'node'));
    lanes (part.lastChild, all, n);
  }
  if (S.more) say ('lane', 'and ' + plural (S.more, 'more node') + ' without a lane');
}

const KINDS = { saved: 'saved', work: 'in work: it has not finished', missing: 'nothing of it is saved: it runs, waits, or is to be done again', kept: 'done: a kept state stands for it', later: 'not seen yet: it may be spawned, or runs', many: 'many narrow jobs' };
function boxName (b) {
  if (b.p === '/') return '/';
  return b.p || (b.to !== undefined && b.k !== 'later' ? b.n + ' to ' + b.to : b.k === 'later' ? 'to come' : String (b.n));
}
function renderIcicle () {
  const svg = $ ('icicle'), w = svg.clientWidth || 1100, tall = 26;
  svg.replaceChildren ();
  if (!B || !B.top) {
    svg.style.height = '30px';
    make ('text', { x: 0, y: 16 }, S && !S.checkpoint && !L ? 'A run without a checkpoint does not name its jobs.' : 'Nothing is published yet.', svg);
    return;
  }
  let deepest = 0;
  const draw = (b, x, width, level) => {
    deepest = Math.max (deepest, level);
    const g = make ('g', { tabindex: width > 20 ? 0 : -1, 'data-path': b.p || '' }, null, svg);
    make ('rect', { class: 'box b-' + b.k, x: x, y: level * tall, width: Math.max (width, 0.5), height: tall - 1 }, null, g);
    if ((b.k === 'work' || b.k === 'many') && b.s > 0 && b.w > 0)
      make ('rect', { class: 'b-part', x: x, y: level * tall + tall - 5, width: width * Math.min (1, b.s / b.w), height: 3 }, null, g);
    make ('title', {}, boxName (b) + ': ' + KINDS[b.k] + ', ' + percent (b.w, 3) + ' of the work' + (b.value !== undefined ? ', ' + b.job + ' = ' + b.value : ''), g);
    const room = Math.floor ((width - 8) / 6.6), name = level ? '/' + boxName (b).split ('/').pop () : boxName (b);
    const long = b.value !== undefined && room > name.length + 8 ? name + '  ' + b.job + ' = ' + b.value : name;
    if (room >= Math.min (2, name.length)) make ('text', { x: x + 4, y: level * tall + 16 }, long.length > room ? (name.length > room ? '' : name) : long, g);
    if (b.p && b.p === picked) g.setAttribute ('class', 'picked');
    g.addEventListener ('click', () => pick (b, g));
    g.addEventListener ('keydown', e => { if (e.key === 'Enter') pick (b, g); });
    g.addEventListener ('dblclick', () => down (b));
    let at = x;
    for (const c of b.in || []) { const cw = width * c.w / b.w; draw (c, at, cw, level + 1); at += cw; }
  };
  const top = crumbs.length && isFile ? findBox (B.top, last (crumbs).p) || B.top : B.top;
  draw (top, 0, w, 0);
  svg.setAttribute ('viewBox', '0 0 ' + w + ' ' + (deepest + 1) * tall);
  svg.style.height = (deepest + 1) * tall + 'px';
  renderCrumbs ();
}
function findBox (b, p) {
  if (b.p === p) return b;
  for (const c of b.in || []) { const found = findBox (c, p); if (found) return found; }
  return null;
}
function renderCrumbs () {
  const p = $ ('crumbs');
  p.replaceChildren ();
  if (!crumbs.length) { add (p, 'span', 'Each row is one level of the tree. Choose a job; a double click goes down to it.', 'dim'); return; }
  const to = n => { crumbs = crumbs.slice (0, n); loadBoxes (); };
  add (p, 'button', '/').onclick = () => to (0);
  crumbs.forEach ((c, i) => { add (p, 'span', ' › '); add (p, 'button', c.p).onclick = () => to (i + 1); });
}
function pick (b, g) {
  for (const other of $ ('icicle').querySelectorAll ('.picked')) other.removeAttribute ('class');
  picked = b.p || null;
  g.setAttribute ('class', 'picked');
  renderJob (b);
}
function renderJob (b) {
  const box = $ ('job');
  box.replaceChildren ();
  const title = add (box, 'p');
  add (title, 'strong', boxName (b));
  add (title, 'span', '  ' + KINDS[b.k] + '  ', 'dim');
  if (b.p && b.in && b !== B.top) add (title, 'button', 'go down').onclick = () => down (b);
  const list = add (box, 'dl'), row = (k, v) => { if (v === undefined || v === null || v === '') return; add (list, 'dt', k); add (list, 'dd', String (v)); };
  row ('share of the work', percent (b.w, 4) + (b.k === 'work' || b.k === 'many' ? ', saved: ' + percent (b.s || 0, 4) : ''));
  if (b.value !== undefined) row ('result', b.job + ' = ' + b.value);
  if (b.k === 'saved')
    row ('arguments', b.args !== undefined ? b.args : 'not saved: too long, or not known');
  if (known (b.began))
    row ('began at', clock (b.began, true) + ', took ' + duration (b.took_s));
  if (b.node !== undefined) {
    const n = L && L.nodes.find (x => x.node === b.node);
    row ('computed by', b.node + (n ? ' on ' + (n.host || '?') + (n.site ? ', site ' + n.site : '') : ''));
    row ('saved at', clock (b.at, true));
  }
  if (known (b.cost_s)) row (b.k === 'saved' ? 'cost, with all below' : 'saved work below', duration (b.cost_s));
  if (known (b.rows) && b.k !== 'saved') row ('results saved below', b.rows);
  if (!L || !b.p) return;
  const path = b.p === '/' ? '' : b.p;
  const told = L.events.filter (e => e.path !== undefined && (e.path === b.p || e.path === '/' || (path + '/').startsWith (e.path + '/') || e.path.startsWith (path + '/')));
  row ('events', told.length
                     ? told.slice(-5)
                           .map(e => clock (e.at) + ' ' + e.kind + (e.path ? ' ' + e.path : '')
                                     + (e.work_s ? ', ' + duration (e.work_s) : '')
                                     + (e.detail ? ': ' + e.detail : ''))
                           .join('\n')
                     : '');
}
function down (b) {
  if (!b.p || !b.in || (B && b === B.top)) return;
  crumbs.push ({ p: b.p, w: b.w });
  picked = null;
  loadBoxes ();
}
function loadBoxes () {
  if (isFile) { renderIcicle (); return; }
  const at = last (crumbs), wanted = at ? at.p : '/';
  fetch ('boxes?path=' + encodeURIComponent (wanted) + (at ? '&w=' + at.w : '')).then (r => r.ok ? r.json () : null).then (json => {
    if (!json || wanted !== (crumbs.length ? last (crumbs).p : '/')) return;
    B = json;
    renderIcicle ();
    const again = picked && findBox (B.top, picked);
    if (again) renderJob (again);
  }).catch (() => {});
}

const BAD = /^(left|gone|requeued|silent|crashed|failed|lost)/;
function renderEvents () {
  const table = $ ('events'), all = L && L.events.length ? L.events.slice () : [];
  const newest = all.length ? last (all).at : 0;
  for (const e of S.seen) if (!all.length || ((e.at > newest || /silent|answers|master/.test (e.kind)) && !(L && /joined|elected|gone/.test (e.kind)))) all.push (e);
  all.sort ((a, b) => b.at - a.at);
  table.replaceChildren ();
  for (const e of all) {
    const tr = add (table, 'tr', null, BAD.test (e.kind) && e.detail !== 'left' && e.detail !== 'ended' ? 'bad' : '');
    add (tr, 'td', clock (e.at), 't');
    add (tr, 'td', e.kind, 'k');
    add (tr, 'td', [e.node, e.path, e.detail].filter (x => x).join ('  '));
    add (tr, 'td', e.work_s ? duration (e.work_s) : '', 'r');
  }
  if (!all.length) add (add (table, 'tr'), 'td', 'nothing has happened yet', 'dim');
  const costs = $ ('costs');
  costs.replaceChildren ();
  say ('cost', L ? duration (L.lost_s) : '–');
  say ('cost-more', L ? (L.lost_jobs ? plural (L.lost_jobs, 'job') + ' went back to be done again' : 'no job had to be done again') : 'the ledger stands in the checkpoint');
  if (L) for (const n of L.nodes.filter (x => x.lost_jobs || x.lost_s)) {
    const tr = add (costs, 'tr');
    add (tr, 'td', n.node + ' on ' + (n.host || '?'));
    add (tr, 'td', plural (n.lost_jobs, 'job'), 'r');
    add (tr, 'td', duration (n.lost_s), 'r');
  }
}
function renderHead () {
  const pill = $ ('state');
  pill.className = 'pill ' + (lost ? 'silent' : S.state);
  say ('state', lost ? 'view is gone' : S.state === 'over' ? (S.sentence || 'over').split (';')[0] : S.state);
  say ('name', S.name);
  say ('program', S.program ? [S.program].concat (S.arguments || []).join (' ') : '');
  const parts = [];
  if (S.started) parts.push ('started ' + clock (Date.parse (S.started) / 1000, true) + (S.host ? ' on ' + S.host : ''));
  if (S.checkpoint) parts.push ('checkpoint ' + S.checkpoint);
  if (L) parts.push ('generation ' + L.generation + ', ' + plural (L.rows, 'saved result'));
  if (isFile) parts.push ('as of ' + clock (S.now, true));
  say ('foot', parts.join ('  ·  '));
}
function render () {
  if (!S) return;
  renderHead ();
  renderAnswers ();
  renderWhy ();
  chart ($ ('progress'), [{ points: progressPoints (), area: true }], 1, v => Math.round (100 * v) + ' %');
  const h = S.history, line = key => h.at.map ((t, i) => [t, h[key][i]]).filter (p => known (p[1]));
  const one = line ('one_s'), all = line ('all_s'), top = Math.max (0.1, ...one.concat (all).map (p => p[1])) * 1.1;
  chart ($ ('risks'), [{ points: all, className: 'all' }, { points: one }], top, duration);
  renderNodes ();
}
const LANE = ['id', 'host', 'site', 'roles', 'pid', 'workers', 'gone', 'did'];
function takeWhole (whole) {
  S = whole;
  S.lanes = S.lanes.map (values => Object.fromEntries (LANE.map ((key, i) => [key, values[i]])));
  S.silentFor = S.history.at.length ? S.now - last (S.history.at) : 0;
}
const COLUMNS = ['at', 'done', 'one_s', 'all_s', 'busy', 'workers', 'up'];
function takeTick (tick) {
  if (!S || tick.did.length !== S.lanes.length) return;
  S.now = tick.now;
  S.left_s = tick.left_s; S.left_low_s = tick.left_low_s; S.left_high_s = tick.left_high_s;
  for (const c of COLUMNS) { S.history[c].length = Math.min (S.history[c].length, tick.i); S.history[c][tick.i] = tick[c]; }
  S.lanes.forEach ((lane, i) => { lane.did = lane.did.slice (0, tick.i) + tick.did[i]; });
}
function take (message) {
  if (message.kind === 'whole') takeWhole (message);
  else if (message.kind === 'tick') takeTick (message);
  else if (message.kind === 'ledger') { L = message; loadBoxes (); }
  render ();
  if (message.kind !== 'tick' && S) renderEvents ();
  if (!B && S) renderIcicle ();
}
function listen () {
  const stream = new EventSource ('events');
  stream.onmessage = event => { lost = false; take (JSON.parse (event.data)); };
  stream.onerror = () => { lost = true; render (); };
}
window.addEventListener ('resize', () => { render (); if (S) renderIcicle (); });
const data = $ ('data');
if (data) {
  const all = JSON.parse (data.textContent);
  isFile = true;
  L = all.ledger;
  B = all.boxes;
  takeWhole (all.whole);
  render ();
  renderEvents ();
  renderIcicle ();
} else listen ();
}) ();

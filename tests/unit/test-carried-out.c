/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of each effect of the Node (node/driver-effects.c): which function of the engine,
 * the scribe and the links is called, and with which values. Plays all of these. */
#include "node/driver-private.h"

#include "engine/constant.h"
#include "loan.h"

#include "folder/folder.h"

#include <string.h>

static GString *called;        /* what was called, with its values, in this order */
static guint n_jobs;           /* that the engine can lend */
static gsize queued;           /* bytes on each link */
static gboolean engine_runs;   /* the engine takes jobs */
static SatinConst_ a_constant; /* "known" */

static void G_GNUC_PRINTF (1, 2) note (const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_string_append_vprintf (called, format, list);
  va_end (list);
}

static const char *
text_of (GBytes *bytes)
{
  static char text[32];

  g_snprintf (text, sizeof text, "%.*s", (int)g_bytes_get_size (bytes),
              (const char *)g_bytes_get_data (bytes, NULL));
  return text;
}

/* ---- the engine ---- */

gboolean
engine_lend (Engine *engine G_GNUC_UNUSED, Loan *loan)
{
  if (n_jobs == 0)
    return FALSE;
  loan->loan = n_jobs--;
  return TRUE;
}

void
engine_request_work (Engine *engine G_GNUC_UNUSED, guint thieves)
{
  note ("request-work %u", thieves);
}

gboolean
engine_put (Engine *engine G_GNUC_UNUSED, guint64 loan, GBytes *value, guint64 work_us,
            guint64 risk_us)
{
  note ("put %u %s %u %u", (guint)loan, text_of (value), (guint)work_us, (guint)risk_us);
  return TRUE;
}

gboolean
engine_back (Engine *engine G_GNUC_UNUSED, guint64 loan)
{
  note ("back %u", (guint)loan);
  return TRUE;
}

gboolean
engine_run (Engine *engine G_GNUC_UNUSED, guint64 held, Loan *loan)
{
  note ("run %u %s", (guint)held, loan->path);
  return engine_runs;
}

void
engine_unrun (Engine *engine G_GNUC_UNUSED, guint64 held)
{
  note ("unrun %u", (guint)held);
}

void
engine_known (Engine *engine G_GNUC_UNUSED, const char *path, const Digest *digest,
              const NodeId *holder, guint32 finished)
{
  note ("known %s %u %u %u", path, digest->bytes[0], holder->number, finished);
}

void
engine_forget (Engine *engine G_GNUC_UNUSED, const char *path, const NodeId *holder)
{
  note ("forget %s %u", path != NULL ? path : "all", holder->number);
}

void
engine_scan (Engine *engine G_GNUC_UNUSED, gboolean whole)
{
  note ("scan %d", whole);
}

void
engine_halt (Engine *engine G_GNUC_UNUSED, gboolean leaving)
{
  note ("halt %d", leaving);
}

gboolean
engine_improve (Engine *engine G_GNUC_UNUSED, guint best, GBytes *value)
{
  note ("improve %u %s", best, text_of (value));
  return TRUE;
}

void
engine_set_constants (Engine *engine G_GNUC_UNUSED, const Digest *digest)
{
  note ("set-constants %u", digest->bytes[0]);
}

SatinConst_ *
constant_find (const char *name)
{
  return strcmp (name, "known") == 0 ? &a_constant : NULL;
}

gboolean
constant_set_encoded (SatinConst_ *constant, GBytes *bytes, GError **error G_GNUC_UNUSED)
{
  g_assert_true (constant == &a_constant);
  note ("set-constant %s; ", text_of (bytes));
  return TRUE;
}

/* ---- the scribe ---- */

#define PLAYS(function, what) \
  void function (Driver *driver G_GNUC_UNUSED) \
  { \
    note (what); \
  }
#define PLAYS_EFFECT(function, what, value) \
  void function (Driver *driver G_GNUC_UNUSED, const NodeEffect *effect) \
  { \
    note (what " %u", (guint)effect->value); \
  }

/* clang-format off */
PLAYS (keeper_retire, "retire")
PLAYS (keeper_bid, "bid")
PLAYS (keeper_final, "final")
PLAYS (keeper_publish, "publish")
PLAYS (keeper_offer, "offer")
PLAYS_EFFECT (keeper_open, "open", number)
PLAYS_EFFECT (keeper_event, "event", number)
PLAYS_EFFECT (mesh_send, "send", link)
PLAYS_EFFECT (driver_depart, "depart", work_us)
/* clang-format on */

void
keeper_answer (Driver *driver G_GNUC_UNUSED, GBytes *answer, int code)
{
  note ("answer %s %d", text_of (answer), code);
}

void
keeper_save (Driver *driver G_GNUC_UNUSED, GPtrArray *rows, guint64 ticket)
{
  note ("save %u %u", rows->len, (guint)ticket);
  g_ptr_array_unref (rows);
}

void
keeper_salvage (Driver *driver G_GNUC_UNUSED, const char *path)
{
  note ("salvage %s", path);
}

void
keeper_best (Driver *driver G_GNUC_UNUSED, guint best)
{
  note ("; best %u", best);
}

void
keeper_constant (Driver *driver G_GNUC_UNUSED, const char *name, GBytes *bytes)
{
  note ("constant %s %s", name, text_of (bytes));
}

void
scribe_joined (Scribe *scribe G_GNUC_UNUSED, const NodeId *id, const char *host, const char *site,
               const char *address)
{
  note ("joined %u %s %s %s", id->number, host, site, address);
}

/* ---- links, the folder, people ---- */

void
mesh_dial (Driver *driver G_GNUC_UNUSED, guint64 dial, const char *address)
{
  note ("dial %u %s", (guint)dial, address);
}

gsize
mesh_queued (Driver *driver G_GNUC_UNUSED, guint64 link)
{
  return link == 7 ? queued : 0;
}

void
mesh_close_link (Driver *driver G_GNUC_UNUSED, guint64 link)
{
  note ("close %u", (guint)link);
}

void
mesh_refused (Driver *driver G_GNUC_UNUSED, const char *build)
{
  note ("refused %s", build);
}

const char *const *
listener_addresses (Listener *listener G_GNUC_UNUSED)
{
  return NULL;
}

void
drive_set_timer (Drive *drive G_GNUC_UNUSED, gint64 at_us)
{
  note ("timer %d", (int)at_us);
}

void
driver_end (Driver *driver G_GNUC_UNUSED, int code, gboolean finished, const char *sentence)
{
  note ("end %d %d %s", code, finished, sentence);
}

void
driver_fail (Driver *driver G_GNUC_UNUSED, int code, const char *sentence)
{
  note ("fail %d %s", code, sentence);
}

void
driver_say (Driver *driver G_GNUC_UNUSED, const char *format G_GNUC_UNUSED, ...)
{
}

void
driver_suspend (Driver *driver G_GNUC_UNUSED, guint64 within_us)
{
  note ("suspend %u", (guint)within_us);
}

gboolean
folder_write (const char *folder G_GNUC_UNUSED, const char *name G_GNUC_UNUSED,
              GBytes *bytes G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  return TRUE;
}

char *
folder_node_file (gint64 pid G_GNUC_UNUSED, const char *ending)
{
  return g_strdup (ending);
}

GArray *
node_members (Node *node G_GNUC_UNUSED)
{
  GArray *members = g_array_new (FALSE, TRUE, sizeof (NodeMember));

  g_array_set_size (members, 3);
  for (guint i = 0; i < members->len; i++)
    {
      static const char *const sites[] = { "one", "two", "three" };
      NodeMember *member = &g_array_index (members, NodeMember, i);
      member->id.number = i + 1;
      member->site = (char *)sites[i];
    }
  return members;
}

char *
report_difference (Driver *driver G_GNUC_UNUSED, const NodeEffect *effect)
{
  return g_strconcat ("differs at ", effect->job->path, NULL);
}

void
report_stats (Driver *driver G_GNUC_UNUSED, gboolean last)
{
  note ("stats %d", last);
}

void
report_trouble (Driver *driver G_GNUC_UNUSED, const char *sentence)
{
  note ("trouble %s", sentence);
}

void
timeline_note_mark (TimelineLane *lane G_GNUC_UNUSED, const char *name G_GNUC_UNUSED,
                    const char *key G_GNUC_UNUSED, guint64 figure G_GNUC_UNUSED)
{
}

/* ---- the tests ---- */

static const struct
{
  NodeEffectKind kind;
  const char *calls;
} table[] = { { NODE_EFFECT_SEND, "send 7" },
              { NODE_EFFECT_DIAL, "dial 8 text" },
              { NODE_EFFECT_CLOSE, "close 7" },
              { NODE_EFFECT_TIMER, "timer 12" },
              { NODE_EFFECT_UNRUN, "unrun 9" },
              { NODE_EFFECT_RUN, "run 9 /5" },
              { NODE_EFFECT_REQUEST, "request-work 15" },
              { NODE_EFFECT_PUT, "put 10 bytes 13 14" },
              { NODE_EFFECT_BACK, "back 10" },
              { NODE_EFFECT_KNOWN, "known /path 17 2 15" },
              { NODE_EFFECT_FORGET, "forget /path 2" },
              { NODE_EFFECT_SCAN, "scan 1" },
              { NODE_EFFECT_HALT, "halt 1" },
              { NODE_EFFECT_BEST, "improve 11 bytes; best 11" },
              { NODE_EFFECT_CONSTANT, "constant text bytes" },
              { NODE_EFFECT_START, "set-constants 17" },
              { NODE_EFFECT_LEAVE, "depart 13" },
              { NODE_EFFECT_REFUSED, "refused text" },
              { NODE_EFFECT_END, "end 11 1 text" },
              { NODE_EFFECT_COORDINATOR, "open 11" },
              { NODE_EFFECT_RETIRE, "retire" },
              { NODE_EFFECT_BID, "bid" },
              { NODE_EFFECT_ANSWER, "answer bytes 11" },
              { NODE_EFFECT_SAVE, "save 1 11" },
              { NODE_EFFECT_SALVAGE, "salvage /path" },
              { NODE_EFFECT_EVENT, "event 11" },
              { NODE_EFFECT_FINAL, "final" },
              { NODE_EFFECT_PUBLISH, "publish" },
              { NODE_EFFECT_PUBLISH_IF_WORTH, "offer" },
              { NODE_EFFECT_MEMBER, "joined 2 text2 two text" },
              { NODE_EFFECT_STAYED, "" },
              { NODE_EFFECT_MASTER, "" },
              { NODE_EFFECT_RESULT, "" },
              { NODE_EFFECT_TELL, "" },
              { NODE_EFFECT_SAVED, "" },
              { NODE_EFFECT_WARN, "trouble text" } };

typedef struct
{
  Driver driver;
  Loan *job;
  NodeEffect effect; /* each value is another one */
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  Digest none = { { 0 } };
  (void)data;
  called = g_string_new (NULL);
  queued = 0;
  engine_runs = TRUE;
  f->driver = (Driver){ .scribe = (Scribe *)f, .part = PART_MEMBER };
  f->driver.constants
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
  f->driver.names = g_array_new (FALSE, FALSE, sizeof (NodeId));
  g_mutex_init (&f->driver.mutex);
  g_cond_init (&f->driver.cond);
  g_queue_init (&f->driver.pending);
  f->job = loan_new (0, "/5", 0, &none, 1.0, g_bytes_new_static ("", 0));
  f->effect = (NodeEffect){ .link = 7,
                            .dial = 8,
                            .held = 9,
                            .loan = 10,
                            .number = 11,
                            .at_us = 12,
                            .work_us = 13,
                            .risk_us = 14,
                            .count = 15,
                            .finished = TRUE,
                            .whole = TRUE,
                            .node = { .number = 2 },
                            .digest = { { 17 } },
                            .text = (char *)"text",
                            .text2 = (char *)"text2",
                            .path = (char *)"/path",
                            .bytes = g_bytes_new_static ("bytes", 5),
                            .job = f->job };
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  DriverPending *pending;
  (void)data;
  while ((pending = g_queue_pop_head (&f->driver.pending)) != NULL)
    {
      g_clear_pointer (&pending->loans, g_ptr_array_unref);
      g_free (pending->path);
      g_free (pending->text);
      g_free (pending);
    }
  g_string_free (called, TRUE);
  g_hash_table_unref (f->driver.constants);
  g_array_unref (f->driver.names);
  g_clear_pointer (&f->driver.result, g_bytes_unref);
  g_free (f->driver.saved.missing);
  g_free (f->driver.outside);
  g_mutex_clear (&f->driver.mutex);
  g_cond_clear (&f->driver.cond);
  g_bytes_unref (f->effect.bytes);
  loan_free (f->job);
}

static void
assert_called (const char *expected)
{
  g_assert_cmpstr (called->str, ==, expected);
  g_string_truncate (called, 0);
}

static void
carry_out (Fixture *f, NodeEffectKind kind)
{
  f->effect.kind = kind;
  driver_carry_out (&f->driver, &f->effect);
}

/* The event that an effect has caused; NULL: none. */
static const DriverPending *
event_of (Fixture *f)
{
  return g_queue_peek_head (&f->driver.pending);
}

static void
each_reaches_its_function (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      f->effect.rows = g_ptr_array_new ();
      g_ptr_array_add (f->effect.rows, f);
      carry_out (f, table[i].kind);
      assert_called (table[i].calls);
      g_clear_pointer (&f->effect.rows, g_ptr_array_unref);
      g_assert_null (event_of (f));
    }
}

static void
values_are_kept (Fixture *f, gconstpointer unused)
{
  (void)unused;
  carry_out (f, NODE_EFFECT_CONSTANT);
  g_assert_true (g_hash_table_lookup (f->driver.constants, "text") == f->effect.bytes);
  carry_out (f, NODE_EFFECT_RESULT);
  g_assert_true (f->driver.result == f->effect.bytes);
  g_assert_false (f->driver.tell);
  carry_out (f, NODE_EFFECT_TELL);
  g_assert_true (f->driver.tell);
  for (guint i = 1; i <= 2; i++)
    {
      carry_out (f, NODE_EFFECT_MASTER);
      g_assert_true (f->driver.master);
      g_assert_cmpuint (f->driver.masterships, ==, i);
      carry_out (f, NODE_EFFECT_DEPOSED);
      g_assert_false (f->driver.master);
      g_assert_null (f->driver.result);
      f->effect.failed = i == 1;
      carry_out (f, NODE_EFFECT_SAVED);
      g_assert_cmpuint (f->driver.saved.rounds, ==, i);
      g_assert_cmpint (f->driver.saved.failed, ==, i == 1);
      g_assert_cmpstr (f->driver.saved.missing, ==, "text");
      g_assert_cmpuint (f->driver.generation, ==, 11);
    }
  g_string_truncate (called, 0);
  f->effect.text = (char *)"const/known";
  carry_out (f, NODE_EFFECT_CONSTANT);
  assert_called ("set-constant bytes; constant const/known bytes");
  f->effect.at_us = 0; /* no timer */
  carry_out (f, NODE_EFFECT_TIMER);
  assert_called ("timer -1");
}

/* A member that is gone: its memory is given back later, and the figures are written soon. */
static void
a_member_is_gone (Fixture *f, gconstpointer unused)
{
  (void)unused;
  carry_out (f, NODE_EFFECT_FORGET);
  g_assert_false (f->driver.missed);
  g_assert_cmpint (f->driver.departed_us, ==, 0);
  f->effect.path = NULL;
  carry_out (f, NODE_EFFECT_FORGET);
  g_assert_true (f->driver.missed);
  g_assert_cmpint (f->driver.departed_us, >, 0);
}

/* Up to so many jobs are lent, and none to a node that does not read what it is sent; the thief is
 * answered in each case. */
static void
jobs_are_lent (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    guint jobs, lent;
    gsize queued;
  } cases[]
      = { { 20, 15, 0 }, { 15, 15, 1 << 23 }, { 3, 3, 0 }, { 0, 0, 0 }, { 20, 0, (1 << 23) + 1 } };
  (void)unused;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      n_jobs = cases[i].jobs;
      queued = cases[i].queued;
      carry_out (f, NODE_EFFECT_LEND);
      DriverPending *pending = g_queue_pop_head (&f->driver.pending);
      g_assert_cmpint (pending->event.kind, ==, NODE_EVENT_LENT);
      g_assert_cmpuint (pending->event.node.number, ==, 2);
      g_assert_true (pending->event.loans == pending->loans);
      g_assert_cmpuint (pending->loans->len, ==, cases[i].lent);
      for (guint j = 0; j < cases[i].lent; j++)
        g_assert_cmpuint (((Loan *)pending->loans->pdata[j])->loan, ==, cases[i].jobs - j);
      g_ptr_array_unref (pending->loans);
      g_free (pending);
    }
}

/* A job that the engine does not know goes back; two results that differ end the run. */
static void
events_follow (Fixture *f, gconstpointer unused)
{
  (void)unused;
  engine_runs = FALSE;
  carry_out (f, NODE_EFFECT_RUN);
  g_assert_cmpint (event_of (f)->event.kind, ==, NODE_EVENT_UNRUN);
  g_assert_cmpuint (event_of (f)->event.held, ==, 9);
  g_free (g_queue_pop_head (&f->driver.pending));
  carry_out (f, NODE_EFFECT_DIFFERS);
  const NodeEvent *event = &event_of (f)->event;
  g_assert_cmpint (event->kind, ==, NODE_EVENT_CRASH_REPORT);
  g_assert_true (event->final);
  g_assert_cmpstr (event->path, ==, "/5");
  g_assert_cmpstr (event->text, ==, "differs at /5");
}

/* The last node that a signal asks to leave suspends the run; a request is only refused. */
static void
the_last_node_stays (Fixture *f, gconstpointer unused)
{
  (void)unused;
  f->driver.warned = TRUE;
  carry_out (f, NODE_EFFECT_STAYED);
  assert_called ("suspend 0");
}

/* A joiner's figures are written when it is a member, once; its later names are only noted. */
static void
a_member_joins (Fixture *f, gconstpointer unused)
{
  (void)unused;
  f->driver.part = PART_JOINING;
  carry_out (f, NODE_EFFECT_LOG);
  f->effect.text = (char *)"the last reason";
  carry_out (f, NODE_EFFECT_LOG);
  g_assert_cmpstr (f->driver.outside, ==, "the last reason");
  carry_out (f, NODE_EFFECT_JOINED);
  g_assert_cmpint (f->driver.part, ==, PART_MEMBER);
  assert_called ("stats 0");
  f->effect.node.number = 5;
  carry_out (f, NODE_EFFECT_JOINED);
  assert_called ("");
  g_assert_cmpuint (f->driver.names->len, ==, 2);
  g_assert_cmpuint (g_array_index (f->driver.names, NodeId, 1).number, ==, 5);
}

int
main (int argc, char **argv)
{
#define TEST(name, function) \
  g_test_add ("/carried-out/" name, Fixture, NULL, set_up, function, tear_down)

  g_test_init (&argc, &argv, NULL);
  TEST ("each-reaches-its-function", each_reaches_its_function);
  TEST ("values-are-kept", values_are_kept);
  TEST ("a-member-is-gone", a_member_is_gone);
  TEST ("jobs-are-lent", jobs_are_lent);
  TEST ("events-follow", events_follow);
  TEST ("the-last-node-stays", the_last_node_stays);
  TEST ("a-member-joins", a_member_joins);
  return g_test_run ();
}

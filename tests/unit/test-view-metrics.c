/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures at the /metrics of `satin view`: those that `satin metrics` prints, one question at a
 * time. The test is the server, and the run's node. */
#include "fake-node.h"

#include "command/metrics.h"
#include "command/view-metrics.h"

#include "folder/control.h"

#define TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

typedef struct
{
  char *path;
  FakeNode node;
  ViewMetrics metrics;
  gint is_held; /* the node does not answer yet */
} Fixture;

/* Of a request: the test's ViewCall. */
struct ViewCall
{
  ViewHttpStatus status; /* 0: there is no reply yet */
  char *type, *text;
};

/* The server. */
void
view_server_reply (ViewCall *call, ViewHttpStatus status, const char *type, GBytes *body)
{
  g_assert_cmpint (call->status, ==, 0);
  call->status = status;
  call->type = g_strdup (type);
  if (body != NULL)
    call->text = g_strndup (g_bytes_get_data (body, NULL), g_bytes_get_size (body));
}

static void
call_clear (ViewCall *call)
{
  g_free (call->type);
  g_free (call->text);
  *call = (ViewCall){ 0 };
}

static gboolean
answer (gpointer data, const char *request, GString *reply)
{
  Fixture *f = data;

  while (g_atomic_int_get (&f->is_held))
    g_usleep (1000);
  if (strcmp (request, "status") == 0)
    g_string_append_printf (reply,
                            "{\"name\":\"tour\",\"done\":0.25,\"nodes\":[{\"id\":\"1.1\","
                            "\"site\":\"here\",\"address\":\"%s\",\"state\":\"up\"}]}",
                            f->node.address);
  else
    g_string_append (reply, "{\"id\":\"1.1\",\"work_s\":7}");
  return TRUE;
}

static void
set_up (Fixture *f, gconstpointer unused)
{
  const char *argv[] = { NULL };
  g_auto (FolderRun) run = { .name = g_strdup ("tour"),
                             .program = g_strdup ("/opt/fib"),
                             .argv = g_strdupv ((char **)argv),
                             .folder = g_strdup ("/"),
                             .nodes = 1 };

  (void)unused;
  *f = (Fixture){ .path = folder_create (&run, NULL) };
  g_assert_nonnull (f->path);
  f->node = (FakeNode){ .pid = getpid (), .answer = answer, .data = f };
  fake_node_begin (&f->node, f->path);
}

static void
tear_down (Fixture *f, gconstpointer unused)
{
  (void)unused;
  fake_node_end (&f->node);
  (void)folder_remove (f->path, NULL);
  g_free (f->path);
}

static void
wait_for (const ViewCall *call)
{
  while (call->status == 0)
    g_main_context_iteration (NULL, TRUE);
}

static void
replies (ViewCall *call, ViewHttpStatus status, const char *type, const char *text)
{
  wait_for (call);
  g_assert_cmpint (call->status, ==, status);
  g_assert_cmpstr (call->type, ==, type);
  g_assert_cmpstr (call->text, ==, text);
  call_clear (call);
}

static void
the_figures_are_those_of_the_command (Fixture *f, gconstpointer unused)
{
  ViewCall call = { 0 };

  (void)unused;
  view_metrics_get (&f->metrics, &call, f->path);
  wait_for (&call);
  g_autoptr (Gather) gather = gather_new (f->path, NULL);
  g_assert_nonnull (gather);
  gather_ask (gather, CONTROL_FIGURES);
  g_autofree char *wanted = metrics_text (gather, METRICS_OPEN);
  g_assert_nonnull (strstr (wanted, "\nsatin_work_seconds_total{run=\"tour\",node=\"1.1\","
                                    "site=\"here\"} 7\n"));
  g_assert_true (g_str_has_suffix (wanted, "\n# EOF\n"));
  replies (&call, VIEW_HTTP_OK, TYPE, wanted);
}

/* A second client is refused meanwhile, and may ask again after the answer. */
static void
one_question_is_asked_at_a_time (Fixture *f, gconstpointer unused)
{
  ViewCall first = { 0 }, second = { 0 };

  (void)unused;
  g_atomic_int_set (&f->is_held, TRUE);
  view_metrics_get (&f->metrics, &first, f->path);
  view_metrics_get (&f->metrics, &second, f->path);
  g_assert_cmpint (first.status, ==, 0);
  replies (&second, VIEW_HTTP_UNAVAILABLE, "text/plain", NULL);
  g_atomic_int_set (&f->is_held, FALSE);
  wait_for (&first);
  view_metrics_get (&f->metrics, &second, f->path);
  wait_for (&second);
  g_assert_cmpint (first.status, ==, VIEW_HTTP_OK);
  g_assert_cmpint (second.status, ==, VIEW_HTTP_OK);
  call_clear (&first);
  call_clear (&second);
}

/* A checkpoint alone has no figures. Those of a run whose nodes do not answer may come later. */
static void
without_nodes_there_are_no_figures (Fixture *f, gconstpointer unused)
{
  ViewCall call = { 0 };

  (void)unused;
  view_metrics_get (&f->metrics, &call, NULL);
  replies (&call, VIEW_HTTP_NOT_FOUND, "text/plain", NULL);
  fake_node_end (&f->node);
  for (guint i = 0; i < 2; i++)
    {
      view_metrics_get (&f->metrics, &call, f->path);
      replies (&call, VIEW_HTTP_UNAVAILABLE, "text/plain", NULL);
    }
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = { { "/view-metrics/figures", the_figures_are_those_of_the_command },
                { "/view-metrics/one-at-a-time", one_question_is_asked_at_a_time },
                { "/view-metrics/none", without_nodes_there_are_no_figures } };
  static const char *const folders[] = { "satin/runs", "satin", "" };
  g_autofree char *state = g_dir_make_tmp ("satin-view-metrics-XXXXXX", NULL);

  g_setenv ("XDG_STATE_HOME", state, TRUE);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, NULL, set_up, tests[i].test, tear_down);
  int failed = g_test_run ();
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path = g_build_filename (state, folders[i], NULL);
      (void)rmdir (path);
    }
  return failed;
}

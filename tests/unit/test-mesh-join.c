/* SPDX-License-Identifier: BSD-3-Clause */
/* How a joiner finds the run, and what it does if it cannot (node/mesh.c). */
#include "mesh-rig.h"

static void
turn (guint n)
{
  while (n-- > 0)
    g_main_context_iteration (driver.context, FALSE);
}

static void
begin_to_join (void)
{
  g_string_truncate (called, 0);
  mesh_join (&driver);
  noted ("each 50 ms\n");
}

/* Each try takes the next living member, in the folder or known to the launcher, but never this
 * process. A node that listens at TCP dials TCP. While a link is up the folder is not read. */
static void
a_joiner_asks_one_after_the_other (void)
{
  guint64 link = 1;

  folder.addresses[0] = "unix:/1 tcp:1";
  folder.addresses[1] = "unix:/own";
  folder.addresses[2] = "unix:/3";
  folder.peers = "tcp:4\ntcp:5\n";
  folder.id = "run-1";
  begin_to_join ();
  turn (6);
  noted ("join unix:/1\njoin unix:/3\njoin unix:/3\njoin tcp:4\njoin tcp:5\njoin unix:/1\n");
  g_assert_cmpstr (driver.config.run.id, ==, "run-1");
  driver.config.tcp.address = "127.0.0.1";
  folder.dead[2] = TRUE;
  turn (4);
  noted ("join tcp:4\njoin tcp:4\njoin tcp:4\njoin tcp:5\n");
  turn (1);
  noted ("join tcp:1\n");
  g_hash_table_add (driver.mesh.links, &link);
  turn (3);
  noted ("");
  g_hash_table_steal (driver.mesh.links, &link);
  turn (1);
  noted ("join tcp:5\n");
  driver.part = PART_MEMBER;
  turn (3);
  noted ("");
}

/* A joiner gives up after half a minute, with what the Node said last. */
static void
a_joiner_gives_up (void)
{
  folder.addresses[0] = "unix:/1";
  begin_to_join ();
  turn (600);
  g_string_truncate (called, 0);
  turn (1);
  noted ("fail 1 no node of the run answers\n");
  turn (1);
  noted ("");
  driver.join_tries = 600;
  driver.outside = (char *)"link 1 closed";
  begin_to_join ();
  turn (1);
  noted ("fail 1 no node of the run lets this one in: link 1 closed\n");
  folder.has_ended = TRUE;
  begin_to_join ();
  turn (2);
  noted ("ended 7 -\n");
  g_assert_cmpint (driver.part, ==, PART_STOPPED);
}

/* While no member is there, a joiner claims the founder's place now and then, but not on another
 * host, whose folder has few addresses. A node that was not invited does not found a closed run. */
static void
a_joiner_founds_a_run_without_members (void)
{
  begin_to_join ();
  turn (29);
  noted ("");
  turn (1);
  noted ("claim\n");
  turn (29);
  noted ("");
  folder.founder_is_gone = TRUE;
  turn (1);
  noted ("claim\nsay no member is left to join: this node founds the run\n"
         "start anew, founder 1, invited no, folder /run\n"
         "fail 1 cannot start this program again\n");
  driver.config.closed = driver.config.invited = TRUE;
  turn (30);
  noted ("claim\nsay no member is left to join: this node founds the run\n"
         "start anew, founder 1, invited 1, folder /run\n"
         "fail 1 cannot start this program again\n");
  driver.config.invited = FALSE;
  turn (30);
  g_assert_true (g_str_has_prefix (called->str, "claim\nfail 1 run 'tour' is closed: "));
  g_assert_cmpstr (driver.parting.why, ==, FOLDER_PARTED_REFUSED);
  g_string_truncate (called, 0);
  driver.config.far = TRUE;
  turn (60);
  noted ("");
}

static void
a_refusal_names_both_builds (void)
{
  driver.config.identity.build = (char *)"ours";
  mesh_refused (&driver, "theirs");
  g_assert_true (g_str_has_prefix (
      called->str, "fail 1 this program is build 'ours', and run 'tour' is of build 'theirs': "));
  g_assert_cmpstr (driver.parting.why, ==, FOLDER_PARTED_REFUSED);
}

int
main (int argc, char **argv)
{
  static const MeshTest tests[] = {
    { "/mesh-join/asks", a_joiner_asks_one_after_the_other },
    { "/mesh-join/gives-up", a_joiner_gives_up },
    { "/mesh-join/founds", a_joiner_founds_a_run_without_members },
    { "/mesh-join/refusal", a_refusal_names_both_builds },
  };

  return run_all (argc, argv, tests, G_N_ELEMENTS (tests));
}

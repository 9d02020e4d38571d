/* SPDX-License-Identifier: BSD-3-Clause */
/* A forked process has none of this process's own descriptors, but all others. */
#include "host/own-fds.h"

#include <glib.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST 20
#define LAST 700

/* Forks, and compares what the child has with `own`. */
static void
check_child (const gboolean *own)
{
  int status;
  pid_t pid = fork ();

  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      for (int fd = FIRST; fd <= LAST; fd++)
        if ((fcntl (fd, F_GETFD) < 0) != own[fd])
          _exit (1);
      _exit (0);
    }
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
  for (int fd = FIRST; fd <= LAST; fd++)
    g_assert_cmpint (fcntl (fd, F_GETFD), >=, 0);
}

static void
test_forked (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  gboolean own[LAST + 1] = { FALSE };
  int null = open ("/dev/null", O_RDONLY | O_CLOEXEC);

  for (int fd = FIRST; fd <= LAST; fd++)
    g_assert_cmpint (dup2 (null, fd), ==, fd);
  own_fds_add (-1);
  own_fds_add (G_MAXINT);
  own_fds_remove (-1);
  own_fds_remove (G_MAXINT);
  check_child (own);
  for (int round = 0; round < 20; round++)
    {
      for (int i = 0; i < 100; i++)
        {
          int fd = g_rand_int_range (rand, FIRST, LAST + 1);
          own[fd] = !own[fd];
          if (own[fd])
            own_fds_add (fd);
          else
            own_fds_remove (fd);
        }
      check_child (own);
    }
  for (int fd = FIRST; fd <= LAST; fd++)
    close (fd);
  close (null);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/own-fds/a-forked-process-has-none", test_forked);
  return g_test_run ();
}

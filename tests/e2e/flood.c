/* SPDX-License-Identifier: BSD-3-Clause */
/* A stranger that connects very often and never authenticates. flood ADDRESS RATE SECONDS OPEN
 * [KIND]: makes RATE connections a second to "unix:PATH" or "tcp:127.0.0.1:PORT" for SECONDS (60 at
 * most). Up to OPEN of them (1024 at most) stay open until the other end closes them. KIND: silent
 * (sends nothing), garbage, slow (a byte on every open connection each tenth of a second), hello
 * (the first bytes of a TLS handshake). Prints "begun" after the first hundred connections, and at
 * the end how many it made and how many were refused. It connects to no other host. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define OPEN_MAX_HERE 1024
#define SECONDS_MAX 60
#define SLOW_S 0.1
#define BEGUN 100

static const struct timespec moment = { 0, 1000 * 1000 };
static int fds[OPEN_MAX_HERE];

static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int
dial (const char *address)
{
  struct sockaddr_un near = { .sun_family = AF_UNIX };
  struct sockaddr_in far = { .sin_family = AF_INET, .sin_addr = { htonl (INADDR_LOOPBACK) } };
  int is_unix = strncmp (address, "unix:", 5) == 0;
  int fd = socket (is_unix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int code;

  if (is_unix)
    snprintf (near.sun_path, sizeof near.sun_path, "%s", address + 5);
  else
    far.sin_port = htons ((unsigned short)atoi (strrchr (address, ':') + 1));
  code = is_unix ? connect (fd, (struct sockaddr *)&near, sizeof near)
                 : connect (fd, (struct sockaddr *)&far, sizeof far);
  if (fd >= 0 && code != 0 && errno != EINPROGRESS)
    {
      close (fd);
      return -1;
    }
  return fd;
}

static void
say (int fd, const char *kind)
{
  char bytes[64];

  static unsigned last = 1;

  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (char)((last = last * 1664525u + 1013904223u) >> 24);
  if (strcmp (kind, "hello") == 0)
    memcpy (bytes, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  if (strcmp (kind, "silent") != 0)
    (void)!write (fd, bytes, strcmp (kind, "slow") == 0 ? 1 : sizeof bytes);
}

/* Closes the connections that the other end has closed. */
static void
look (int open)
{
  char bytes[1024];

  for (int i = 0; i < open; i++)
    {
      ssize_t n = fds[i] >= 0 ? recv (fds[i], bytes, sizeof bytes, 0) : -1;
      if (n == 0 || (n < 0 && fds[i] >= 0 && errno != EAGAIN && errno != ENOTCONN))
        {
          close (fds[i]);
          fds[i] = -1;
        }
    }
}

/* FALSE if the connection was refused. If all places are taken, the new connection is closed
 * again. */
static int
one_more (const char *address, const char *kind, int open)
{
  int fd = dial (address), place = 0;

  if (fd < 0)
    return 0;
  say (fd, kind);
  while (place < open && fds[place] >= 0)
    place++;
  if (place < open)
    fds[place] = fd;
  else
    close (fd);
  return 1;
}

int
main (int argc, char **argv)
{
  const char *kind = argc > 5 ? argv[5] : "silent";
  int rate = argc > 4 ? atoi (argv[2]) : 0, open = argc > 4 ? atoi (argv[4]) : 0, begun = 0;
  double seconds = argc > 4 ? atof (argv[3]) : 0, begin = now (), slow = begin;
  long made = 0, refused = 0;

  if (rate < 1 || !(seconds > 0 && seconds <= SECONDS_MAX) || open < 1 || open > OPEN_MAX_HERE
      || (strncmp (argv[1], "unix:", 5) != 0 && strncmp (argv[1], "tcp:127.0.0.1:", 14) != 0))
    return 2;
  signal (SIGPIPE, SIG_IGN);
  memset (fds, -1, sizeof fds);
  for (double at; (at = now () - begin) < seconds; nanosleep (&moment, NULL))
    {
      while ((double)(made + refused) < at * rate)
        if (one_more (argv[1], kind, open))
          made++;
        else
          refused++;
      look (open);
      if (made >= BEGUN && !begun++)
        puts ("begun"), fflush (stdout);
      if (now () - slow > SLOW_S)
        {
          for (int i = 0; strcmp (kind, "slow") == 0 && i < open; i++)
            if (fds[i] >= 0)
              say (fds[i], kind);
          slow = now ();
        }
    }
  printf ("%ld %ld\n", made, refused);
  return 0;
}

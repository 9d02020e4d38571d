/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of checkpoints as a user writes them: an accepted place is accepted again and does not
 * change, and no message contains a password. */
#include "fuzz.h"

#include "storage/places/place.h"

#include <string.h>

#define PASSWORD "OpenSesame"

const char fuzz_name[] = "uri";

GBytes *
fuzz_seed (guint n)
{
  static const char *const seeds[] = {
    "file:///tmp/run.satin",
    "run.satin",
    "/tmp/../run.satin",
    "C:run",
    "sftp://user@host:2222/~/run.satin",
    "sftp://user:" PASSWORD "@host/run.satin",
    "ftp://host/a/b%20c",
    "ftps://[fd00::5%25eth0]:990/run",
    "http://user:" PASSWORD "@host/run?x=1#y",
    "https://host.example/dav/r%C3%BCn",
    "s3://bucket/folder/run",
    "s3://key:" PASSWORD "@bucket/run",
    "file://user:" PASSWORD "@host/run",
    "gopher://user:" PASSWORD "@host/run",
    "sftp:/user:" PASSWORD "@host/run",
    "user:" PASSWORD "@host/run",
  };
  return n < G_N_ELEMENTS (seeds) ? g_bytes_new_static (seeds[n], strlen (seeds[n])) : NULL;
}

/* TRUE if `shown` contains the password, unless `text` has it in the path behind a host. */
static gboolean
tells_password (const char *text, const char *shown)
{
  g_autoptr (GUri) uri = g_uri_parse (text, G_URI_FLAGS_ENCODED | G_URI_FLAGS_HAS_PASSWORD, NULL);
  const char *host = uri != NULL ? g_uri_get_host (uri) : NULL;

  return strstr (shown, ":" PASSWORD "@") != NULL
         && (host == NULL || strstr (g_uri_get_path (uri), PASSWORD) == NULL);
}

/* The credentials and the home of this machine must have no effect. */
static void
forget_environment (void)
{
  static const char *const names[]
      = { "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ENDPOINT_URL", NULL };

  g_setenv ("HOME", "/nonexistent", TRUE);
  for (guint i = 0; names[i] != NULL; i++)
    g_unsetenv (names[i]);
}

void
fuzz_one (const guint8 *data, gsize size)
{
  static gboolean is_prepared;
  g_autofree char *text = g_strndup (size > 0 ? (const char *)data : "", size);

  if (!is_prepared)
    forget_environment ();
  is_prepared = TRUE;
  for (guint insecure = 0; insecure < 2; insecure++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *checked = place_check (text, insecure == 1, &error);
      g_assert ((checked == NULL) == (error != NULL));
      g_assert (error == NULL || !tells_password (text, error->message));
      if (checked == NULL)
        continue;
      g_autofree char *again = place_check (checked, insecure == 1, NULL);
      g_assert_cmpstr (again, ==, checked);
      g_autoptr (Place) place = place_is_remote (checked) ? place_open (checked, NULL) : NULL;
      g_assert (place != NULL || !place_is_remote (checked));
      g_assert (place == NULL || !tells_password (text, place_name (place)));
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* See store-settings.h. */
#include "store-settings.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static const struct
{
  const char *name;
  gboolean is_file;
} settings[] = { { "CURL_CA_BUNDLE", TRUE },       { "SSL_CERT_FILE", TRUE },
                 { "SSL_CERT_DIR", TRUE },         { "AWS_CA_BUNDLE", TRUE },
                 { "SATIN_KNOWN_HOSTS", TRUE },    { "SATIN_SSH_KEY", TRUE },
                 { "AWS_REGION", FALSE },          { "AWS_DEFAULT_REGION", FALSE },
                 { "AWS_ENDPOINT_URL_S3", FALSE }, { "AWS_ENDPOINT_URL", FALSE },
                 { "AWS_PROFILE", FALSE } };

char *
store_settings_write (void)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      const char *value = g_getenv (settings[i].name);

      if (value != NULL && *value != '\0' && strchr (value, '\n') == NULL)
        g_string_append_printf (text, "%s=%s\n", settings[i].name, value);
    }
  return g_string_free (text, FALSE);
}

static gboolean
is_wanted (const char *name, const char *value)
{
  const char *own = g_getenv (name);

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    if (strcmp (settings[i].name, name) == 0)
      return (own == NULL || *own == '\0') && *value != '\0'
             && (!settings[i].is_file || g_access (value, R_OK) == 0);
  return FALSE;
}

void
store_settings_take (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *sign = strchr (lines[i], '=');

      if (sign == NULL)
        continue;
      *sign = '\0';
      if (is_wanted (lines[i], sign + 1))
        g_setenv (lines[i], sign + 1, TRUE);
    }
}

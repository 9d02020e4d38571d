/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests: status.sh. */
#include "ask-status.h"

#include "control.h"

#include "text/json.h"

#include <string.h>

static gboolean
is_coordinator (GVariant *node)
{
  g_autoptr (GVariant) roles = g_variant_lookup_value (node, "roles", G_VARIANT_TYPE ("av"));

  for (gsize i = 0; roles != NULL && i < g_variant_n_children (roles); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (roles, i);
      g_autoptr (GVariant) role = g_variant_get_variant (boxed);

      if (g_variant_is_of_type (role, G_VARIANT_TYPE_STRING)
          && strcmp (g_variant_get_string (role, NULL), "coordinator") == 0)
        return TRUE;
    }
  return FALSE;
}

/* (transfer full) (nullable): the coordinator's address. */
static char *
find_coordinator (const char *reply)
{
  g_autoptr (GVariant) status = json_read (reply);
  g_autoptr (GVariant) nodes = NULL;
  char *address;

  if (status != NULL && g_variant_is_of_type (status, G_VARIANT_TYPE_VARDICT))
    nodes = g_variant_lookup_value (status, "nodes", G_VARIANT_TYPE ("av"));
  for (gsize i = 0; nodes != NULL && i < g_variant_n_children (nodes); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (nodes, i);
      g_autoptr (GVariant) node = g_variant_get_variant (boxed);

      if (g_variant_is_of_type (node, G_VARIANT_TYPE_VARDICT) && is_coordinator (node)
          && g_variant_lookup (node, "address", "s", &address))
        return address;
    }
  return NULL;
}

char *
ask_status (const char *path, GError **error)
{
  g_autofree char *reply = control_ask (path, "status", error);
  g_autofree char *address = reply != NULL ? find_coordinator (reply) : NULL;
  char *better = address != NULL ? control_ask_at (path, address, "status") : NULL;

  return better != NULL ? better : g_steal_pointer (&reply);
}

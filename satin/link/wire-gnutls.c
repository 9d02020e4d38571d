/* SPDX-License-Identifier: BSD-3-Clause */
/* See wire-gnutls.h. Tests: test-wire-tls. */
#include "wire-gnutls.h"

#include <gmodule.h>

static gboolean
load (WireGnutls *gnutls)
{
  GModule *module = g_module_open ("libgnutls.so.30", G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);

  if (module == NULL)
    return FALSE;
#define LOOK_UP(name) \
  if (!g_module_symbol (module, "gnutls_" #name, (gpointer *)&gnutls->name)) \
    return FALSE;
  WIRE_GNUTLS_EACH (LOOK_UP)
#undef LOOK_UP
  g_module_make_resident (module);
  return TRUE;
}

const WireGnutls *
wire_gnutls (void)
{
  static WireGnutls gnutls;
  static gsize once;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, load (&gnutls) ? 1 : 2);
  return once == 1 ? &gnutls : NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* See node-world.h. */
#include "node-world.h"

static const char *const lines[] = {
  [NODE_EFFECT_JOINED] = "JOINED\n",
  [NODE_EFFECT_MASTER] = "MASTER\n",
  [NODE_EFFECT_DEPOSED] = "DEPOSED\n",
  [NODE_EFFECT_COORDINATOR] = "COORDINATOR\n",
  [NODE_EFFECT_START] = "START\n",
  [NODE_EFFECT_HALT] = "HALT\n",
  [NODE_EFFECT_FINAL] = "FINAL\n",
  [NODE_EFFECT_TELL] = "TELL\n",
  [NODE_EFFECT_BEST] = "BEST\n",
  [NODE_EFFECT_RESULT] = "RESULT\n",
  [NODE_EFFECT_UNRUN] = "UNRUN\n",
  [NODE_EFFECT_REQUEST] = "REQUEST\n",
  [NODE_EFFECT_LEAVE] = "LEAVE\n",
  [NODE_EFFECT_STAYED] = "STAYED\n",
  [NODE_EFFECT_RETIRE] = "RETIRE\n",
  [NODE_EFFECT_ANSWER] = "ANSWER\n",
  [NODE_EFFECT_WARN] = "WARN\n",
  [NODE_EFFECT_PUBLISH] = "PUBLISH\n",
  [NODE_EFFECT_PUBLISH_IF_WORTH] = "PUBLISH_IF_WORTH\n",
};

void
node_world_log (GString *log, const NodeEffect *effect)
{
  switch (effect->kind)
    {
    case NODE_EFFECT_REFUSED:
      g_string_append_printf (log, "REFUSED%s%s\n", effect->text != NULL ? " " : "",
                              effect->text != NULL ? effect->text : "");
      break;
    case NODE_EFFECT_SAVED:
      g_string_append_printf (log, "SAVED%s%s\n", effect->text != NULL ? " without " : "",
                              effect->text != NULL ? effect->text : "");
      break;
    case NODE_EFFECT_CHECKPOINT:
      g_string_append_printf (log, "CHECKPOINT %s\n", effect->text);
      break;
    case NODE_EFFECT_SCAN:
      g_string_append (log, effect->whole ? "SCAN whole\n" : "SCAN\n");
      break;
    case NODE_EFFECT_BACK:
      g_string_append_printf (log, "BACK %d\n", (int)effect->loan);
      break;
    case NODE_EFFECT_KNOWN:
      g_string_append_printf (log, "KNOWN %s%s\n", effect->path,
                              effect->finished ? " finished" : "");
      break;
    case NODE_EFFECT_FORGET:
      g_string_append_printf (log, "FORGET %s\n", effect->path != NULL ? effect->path : "*");
      break;
    case NODE_EFFECT_SALVAGE:
      g_string_append_printf (log, "SALVAGE %s\n", effect->path);
      break;
    default:
      if (effect->kind < G_N_ELEMENTS (lines) && lines[effect->kind] != NULL)
        g_string_append (log, lines[effect->kind]);
      break;
    }
}

# SPDX-License-Identifier: BSD-3-Clause
# Completion of satin(1) for fish. The command itself knows the candidates.
complete -c satin -a '(satin --complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'

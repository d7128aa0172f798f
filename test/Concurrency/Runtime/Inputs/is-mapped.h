// For programs that close a library while they run.

#include <stdio.h>
#include <string.h>

/// Whether a file whose path holds `name` is mapped into this process.
static int isMapped(const char *name) {
  char line[4096];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    found |= strstr(line, name) != NULL;
  if (maps)
    fclose(maps);
  return found;
}

#include <stdio.h>
#include <unistd.h>

// Bytes that the process has mapped, and those of them that are in memory.
static void pages(long *mapped, long *resident) {
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", mapped, resident) != 2)
    *mapped = *resident = 0;
  if (file)
    fclose(file);
  *mapped *= sysconf(_SC_PAGESIZE);
  *resident *= sysconf(_SC_PAGESIZE);
}

long mappedBytes(void) {
  long mapped, resident;
  pages(&mapped, &resident);
  return mapped;
}

long residentBytes(void) {
  long mapped, resident;
  pages(&mapped, &resident);
  return resident;
}

#include "heap-in-use.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// mallinfo2() tells of the main arena only. malloc_info() tells of all, as XML:
// the last <system> is what they have got, the last <total> what is free of it,
// and <total type="mmap"> comes in addition.
size_t heapInUse(void) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  malloc_info(0, stream);
  fclose(stream);
  size_t system = 0, fast = 0, rest = 0, mapped = 0;
  for (const char *p = text; (p = strchr(p, '<')); ++p) {
    size_t value;
    if (sscanf(p, "<system type=\"current\" size=\"%zu\"", &value) == 1)
      system = value;
    else if (sscanf(p, "<total type=\"fast\" count=\"%*u\" size=\"%zu\"", &value) == 1)
      fast = value;
    else if (sscanf(p, "<total type=\"rest\" count=\"%*u\" size=\"%zu\"", &value) == 1)
      rest = value;
    else if (sscanf(p, "<total type=\"mmap\" count=\"%*u\" size=\"%zu\"", &value) == 1)
      mapped = value;
  }
  free(text);
  return system - fast - rest + mapped;
}

#ifndef ARM_PROBES_H
#define ARM_PROBES_H

/// The file of the concurrency runtime.
const char *pathOfRuntime(void);
/// `path` has lines of list_probes.py --places.
void armProbes(const char *path);
unsigned hitsOf(const char *name);

#endif

// The processors and the cgroups that the runtime and Dispatch see. CPU_QUOTA_FOLDER has the made-up files at
// their own paths, and CPU_QUOTA_PROCESSORS says how many processors there are.

/// How often a file was opened that tells of cgroups.
int quotaReads(void);
void setProcessors(int count);
/// A file of the made-up cgroups.
void writeQuota(const char *path, const char *text);

#define MOST_HELD_JOBS 100000

/// Keeps the jobs that are enqueued on the global executor from now on, at most
/// MOST_HELD_JOBS.
void holdJobs(void);

/// Enqueues the jobs that were held. Returns how many there were.
int releaseJobs(void);

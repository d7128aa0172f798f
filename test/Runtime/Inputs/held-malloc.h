/// A large malloc of this thread, from now on, waits for continueAllocations().
void holdLargeAllocations(void);

/// The thread does not wait, or no more.
void reachAllocation(void);

/// Waits until a thread waits in malloc, or calls reachAllocation.
void waitForAllocation(void);

/// Lets the thread go on that waits.
void continueAllocations(void);

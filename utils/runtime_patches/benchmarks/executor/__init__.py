"""The executor benchmark: the global executor with a pool of the runtime's own, and with Dispatch's queues."""

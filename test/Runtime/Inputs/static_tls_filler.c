// Takes static TLS when it is loaded.
__thread char filler[64] __attribute__((tls_model("initial-exec")));

char *touch(void) { return filler; }

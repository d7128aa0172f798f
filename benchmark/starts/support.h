/// The bytes that malloc has given out.
long bytesInUse(void);

/// The path of the library that has swift_conformsToProtocol.
const char *runtimeLibrary(void);

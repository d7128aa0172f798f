// What the Swift files of the benchmark see of C.
#include "ballast.h"
#include "deinit-modes.h"

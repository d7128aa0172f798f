#include "child-process.h"
#include "deinit-modes.h"
#include "failing-malloc.h"

#include "../../Concurrency/Runtime/Inputs/child-process.h"
#include "held-malloc.h"

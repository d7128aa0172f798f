#if Whole
public let isWhole = true
#else
public let isWhole = false
#endif

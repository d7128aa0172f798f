# Assertions and debugging information in the runtime's C and C++ code.
set(CMAKE_C_FLAGS_RELEASE "-O1 -g" CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g" CACHE STRING "" FORCE)

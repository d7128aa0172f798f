# ThreadSanitizer in the runtime's C and C++ code.
set(CMAKE_C_FLAGS "-fsanitize=thread -g1" CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS "-include cstdint ${CMAKE_C_FLAGS}" CACHE STRING "" FORCE)

# UndefinedBehaviorSanitizer in the runtime's C and C++ code. Not `vptr` and `function`:
# the runtime is built without RTTI, and calls Swift functions through C++ types.
# CMAKE_CXX_FLAGS serve the linker, too.
set(CMAKE_C_FLAGS "-fsanitize=undefined -fno-sanitize=vptr,function -g1" CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS "-include cstdint ${CMAKE_C_FLAGS} -shared-libsan" CACHE STRING "" FORCE)

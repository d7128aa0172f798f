# AddressSanitizer and LeakSanitizer in the runtime's C and C++ code. Locals stay on the
# stack: the runtime finds the command line by the address of a local variable.
set(CMAKE_C_FLAGS "-fsanitize=address -fsanitize-address-use-after-return=never -g1" CACHE STRING "" FORCE)
set(CMAKE_CXX_FLAGS "-include cstdint ${CMAKE_C_FLAGS}" CACHE STRING "" FORCE)

# Initial cache for Runtimes/Core: libswiftCore and libswift_Concurrency that can
# stand in for the toolchain's own. Needs -DSWIFT_TOOLCHAIN_USR=DIR
# before -C.

set(BUILD_SHARED_LIBS YES CACHE BOOL "")
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
set(CMAKE_Swift_COMPILER "${SWIFT_TOOLCHAIN_USR}/bin/swiftc" CACHE FILEPATH "")
set(CMAKE_C_COMPILER "${SWIFT_TOOLCHAIN_USR}/bin/clang" CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER "${SWIFT_TOOLCHAIN_USR}/bin/clang++" CACHE FILEPATH "")
set(dispatch_DIR "${CMAKE_CURRENT_LIST_DIR}/dispatch" CACHE PATH "")

# As the toolchain's; see also vendor/Settings.cmake.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")

# Every function begins on a cache line. A patch moves the functions behind it, and a
# hot one that comes to lie across two lines is slower with the same instructions.
# 6.2.3 relies on a libstdc++ that includes <cstdint> from elsewhere.
set(CMAKE_C_FLAGS "-falign-functions=64" CACHE STRING "")
set(CMAKE_CXX_FLAGS "-include cstdint -falign-functions=64" CACHE STRING "")
set(CMAKE_Swift_FLAGS "-Xllvm -align-all-functions=6" CACHE STRING "")

# swiftrt.o registers a library's own conformances, once: upstream links it into libswiftCore only (vendor/Settings.cmake).
set(SwiftCore_VENDOR_MODULE_DIR "${CMAKE_CURRENT_LIST_DIR}/vendor" CACHE PATH "")

# Found beside each other wherever the folder is, as stock's are.
set(CMAKE_BUILD_WITH_INSTALL_RPATH YES CACHE BOOL "")
set(CMAKE_INSTALL_RPATH "$ORIGIN" CACHE STRING "")

# perf finds the symbols of a library by its build ID.
set(CMAKE_SHARED_LINKER_FLAGS "-Xlinker --build-id=sha1" CACHE STRING "")

# What upstream's build-script turns on for Linux and Runtimes/Core leaves off.
foreach(_feature
    LIBRARY_EVOLUTION CONCURRENCY ENVIRONMENT COMMANDLINE_SUPPORT REFLECTION
    VECTOR_TYPES BACKTRACING OVERRIDABLE_RETAIN_RELEASE)
  set(SwiftCore_ENABLE_${_feature} YES CACHE BOOL "")
endforeach()
set(SwiftCore_HAS_DLADDR 1 CACHE INTERNAL "")

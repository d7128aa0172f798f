# Initial cache of the libraries that are shipped (utils/package): those of runtime.cmake, against the headers and
# libraries of an older system, so that they run there. Needs these before -C:
#   SWIFT_TOOLCHAIN_USR   the toolchain that compiles
#   SYSROOT               the older system
#   RESOURCES             lib/swift of a toolchain for the architecture
#   TRIPLE                the architecture, as the modules in RESOURCES name it

set(CMAKE_SYSROOT "${SYSROOT}" CACHE PATH "")
foreach(_language C CXX Swift)
  set(CMAKE_${_language}_COMPILER_TARGET "${TRIPLE}" CACHE STRING "")
endforeach()
# Its trial program would need the toolchain's libraries, and so a newer C library than SYSROOT's.
set(CMAKE_Swift_COMPILER_WORKS YES CACHE BOOL "")
# Programs in SYSROOT do not run here.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER CACHE STRING "")
set(CMAKE_AR "${SWIFT_TOOLCHAIN_USR}/bin/llvm-ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${SWIFT_TOOLCHAIN_USR}/bin/llvm-ranlib" CACHE FILEPATH "")
set(dispatch_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE PATH "")

# Functions are not aligned: what is shipped is not compared with `before`. Line tables are for the debug symbols, which
# are an archive of their own; those of Swift would change its code.
set(CMAKE_C_FLAGS "-gline-tables-only" CACHE STRING "")
set(CMAKE_CXX_FLAGS "-include cstdint -gline-tables-only" CACHE STRING "")
set(CMAKE_Swift_FLAGS "-sdk ${SYSROOT} -Xcc --sysroot=${SYSROOT} -resource-dir ${RESOURCES}" CACHE STRING "")

# ld.bfd would export marks of sections.
set(CMAKE_SHARED_LINKER_FLAGS "-fuse-ld=lld -Xlinker --build-id=sha1" CACHE STRING "")
set(CMAKE_EXE_LINKER_FLAGS "-fuse-ld=lld" CACHE STRING "")
# Before glibc 2.34 these were libraries of their own.
set(CMAKE_CXX_STANDARD_LIBRARIES "-lpthread -ldl" CACHE STRING "")

include("${CMAKE_CURRENT_LIST_DIR}/../runtime.cmake")

# find_package(dispatch) for Runtimes/Core: the libdispatch that the toolchain
# ships, so that a rebuilt libswift_Concurrency.so uses the same one as stock.
# SWIFT_TOOLCHAIN_USR is the toolchain's usr folder.

if(NOT TARGET dispatch)
  set(_swift_lib "${SWIFT_TOOLCHAIN_USR}/lib/swift")
  foreach(_library dispatch BlocksRuntime)
    if(NOT EXISTS "${_swift_lib}/linux/lib${_library}.so")
      set(dispatch_FOUND FALSE)
      set(dispatch_NOT_FOUND_MESSAGE
        "the toolchain has no lib/swift/linux/lib${_library}.so")
      return()
    endif()
  endforeach()

  add_library(dispatch SHARED IMPORTED)
  set_target_properties(dispatch PROPERTIES
    IMPORTED_LOCATION "${_swift_lib}/linux/libdispatch.so"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES "${_swift_lib};${_swift_lib}/Block")
  unset(_swift_lib)
endif()
set(dispatch_FOUND TRUE)

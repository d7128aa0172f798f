# find_package(dispatch) for package.cmake: the libdispatch of RESOURCES, a toolchain's lib/swift.
if(NOT TARGET dispatch)
  add_library(dispatch SHARED IMPORTED)
  set_target_properties(dispatch PROPERTIES
    IMPORTED_LOCATION "${RESOURCES}/linux/libdispatch.so"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES "${RESOURCES};${RESOURCES}/Block")
endif()
set(dispatch_FOUND TRUE)

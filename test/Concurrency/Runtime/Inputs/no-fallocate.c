// A file system on which fallocate does nothing, as some of networks and some of FUSE.

#include <errno.h>

int fallocate(int file, int mode, long offset, long size) {
  (void)file, (void)mode, (void)offset, (void)size;
  errno = EOPNOTSUPP;
  return -1;
}

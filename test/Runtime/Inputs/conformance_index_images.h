// Images that no compiler has made, and a malloc that fails.

#ifndef CONFORMANCE_INDEX_IMAGES_H
#define CONFORMANCE_INDEX_IMAGES_H

/// Register an image without any record.
void addEmptyImage(void);

/// Register an image whose records are for the test's protocol, or for none, and for no type:
/// null, or by a pointer that is null.
void addDamagedImage(void);

/// Register `count` images with such records.
void addManyImages(int count);

/// Let allocations of this thread fail that are as large as an index of the standard library.
void failLargeAllocations(int fail);

/// How many have failed.
int failedAllocations(void);

/// Call the function each millisecond in a handler of a signal that the process gets.
void startSignals(void (*handler)(int));

/// How many signals there were.
int signalCount(void);

void stopSignals(void);

#endif

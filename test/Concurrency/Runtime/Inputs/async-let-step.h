#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Before the first child: handles the traps of stepFromHere().
void handleSteps(void);

/// In the parent, before each child.
void startOver(void);

/// In the child: the thread runs single instructions from here on. It stops behind the one
/// that publishes the result, until goOn() is called, or for ten seconds.
void stepFromHere(void);

/// Whether the child has stopped there.
bool hasStopped(void);

void goOn(void);

/// Whether the child runs again.
bool hasGoneOn(void);

void fillWithOnes(void *memory, size_t size);

// Tells valgrind between which calls instructions are counted.
#include <valgrind/callgrind.h>

void start(void) {
    CALLGRIND_START_INSTRUMENTATION;
}
void stop(void) {
    CALLGRIND_STOP_INSTRUMENTATION;
}

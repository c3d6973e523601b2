// The parts of the core that carry its proofs, each beside plain arithmetic that is written for the tests alone.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

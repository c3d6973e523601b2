// Which sets of instructions the processor has on which this runs.
#pragma once

namespace polyfold {

// The level of x86 that processors of the last ten years have (popcnt, AVX2, FMA), kept up by the operating system.
inline bool has_x86_64_v3() {
#ifdef __x86_64__
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
           __builtin_cpu_supports("movbe");
#else
    return false;
#endif
}

}  // namespace polyfold

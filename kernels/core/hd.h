// SAGE_HD: a function that runs on the host and on the device. The project's only macro for code.
#pragma once

#ifdef __CUDACC__
#define SAGE_HD __host__ __device__ __forceinline__
#else
#define SAGE_HD inline
#endif

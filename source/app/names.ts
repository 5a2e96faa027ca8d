/** The internal argument with which this program starts itself as the child process that calls NVIDIA's library. */
export const libraryCommand = '--nvml-scans';

/** The argument with which the scripts of `completion` ask for candidates. */
export const completionCommand = '--complete';

export const simulatedCount = 8;

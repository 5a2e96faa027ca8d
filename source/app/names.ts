/** The argument with which this program starts itself to call NVIDIA's library. Internal. */
export const libraryCommand = '--nvml-scans';

/** The argument with which the scripts of `completion` ask for candidates. */
export const completionCommand = '--complete';

export const simulatedCount = 8;

/** The argument with which this program starts itself to call NVIDIA's library. Internal. */
export const libraryVerb = '--nvml-scans';

/** The argument with which the scripts of `completion` ask for candidates. */
export const completionVerb = '--complete';

export const simulatedCount = 8;

/** Names and numbers of the composition that cost nothing to know. */

/** The first word with which this program starts itself to call NVIDIA's library. No verb for people. */
export const libraryVerb = '--nvml-scans';

/** The first word with which the scripts of `completion` ask what can stand at the caret. */
export const completionVerb = '--complete';

/** How many GPUs a simulated box has by default. */
export const simulatedCount = 8;

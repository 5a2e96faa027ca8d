/** The first word with which this program starts itself to call NVIDIA's library. No verb for people. */
export const libraryVerb = '--nvml-scans';

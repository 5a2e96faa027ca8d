/** What no pool exceeds. */

/** More than any box holds; a larger number is a slip of the finger. */
export const mostGpus = 1024;

/** The largest pid that the kernel gives, whatever its settings. */
const largestPid = 2 ** 22;

/** Beyond the largest pid of the kernel, so that no signal reaches a real process by it. */
export const simulatedPid = (index: number, position: number): number => largestPid + 1 + index * 1000 + position;

/** Whether no real process can have this pid. */
export const isSimulatedPid = (pid: number): boolean => pid > largestPid;

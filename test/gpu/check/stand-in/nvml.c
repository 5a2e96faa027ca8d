/* A stand-in for libnvidia-ml.so.1 that tells what the stand-in nvidia-smi tells, of the same file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { char busIdLegacy[16]; unsigned domain, bus, device, pciDeviceId, pciSubSystemId; char busId[32]; } pci;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory;
typedef struct { unsigned pid; unsigned long long used; unsigned gpuInstanceId, computeInstanceId; } process;

static const unsigned long long MiB = 1024 * 1024;
enum { OK = 0, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7 };

/* Reads the processes that hold memory of this GPU, and returns how much all of them hold. */
static unsigned long long held(long gpu, process *into, unsigned *count) {
	unsigned long long total = 0;
	FILE *file = fopen(getenv("STAND_IN_HOLDERS"), "r");
	int pid, of;
	unsigned long long mib;
	*count = 0;
	while (file != NULL && fscanf(file, "%d %d %llu", &pid, &of, &mib) == 3) {
		if (of != gpu || kill(pid, 0) != 0) continue;
		if (into != NULL) into[*count] = (process){pid, mib * MiB, ~0u, ~0u};
		++*count;
		total += mib;
	}
	if (file != NULL) fclose(file);
	return total;
}

static int isBusy(long gpu) { unsigned count; return held(gpu, NULL, &count) > 0; }
static int copy(const char *text, char *into) { strcpy(into, text); return OK; }

int nvmlInit_v2(void) { return OK; }
int nvmlShutdown(void) { return OK; }
int nvmlSystemGetDriverVersion(char *into, unsigned length) { return copy("580.65.06", into); }
int nvmlDeviceGetCount_v2(unsigned *count) {
	const char *gpus = getenv("STAND_IN_GPUS");
	*count = gpus == NULL ? 1 : atoi(gpus);
	return OK;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, long *into) { *into = index; return OK; }
int nvmlDeviceGetUUID(long gpu, char *into, unsigned length) { sprintf(into, "GPU-0a0a0a0a-1111-2222-3333-%012ld", gpu); return OK; }
int nvmlDeviceGetName(long gpu, char *into, unsigned length) { return copy("NVIDIA H100 80GB HBM3", into); }
int nvmlDeviceGetPciInfo_v3(long gpu, pci *into) {
	memset(into, 0, sizeof *into);
	sprintf(into->busId, "00000000:%02lX:00.0", gpu + 2);
	return OK;
}
int nvmlDeviceGetMemoryInfo_v2(long gpu, memory *into) {
	unsigned count;
	into->total = 81559 * MiB;
	into->reserved = 612 * MiB;
	into->used = (4 + held(gpu, NULL, &count)) * MiB;
	into->free = into->total - into->used;
	return OK;
}
int nvmlDeviceGetUtilizationRates(long gpu, unsigned *into) {
	into[0] = isBusy(gpu) ? 12 : 0;
	into[1] = isBusy(gpu) ? 3 : 0;
	return OK;
}
int nvmlDeviceGetTemperature(long gpu, int sensor, unsigned *into) { *into = isBusy(gpu) ? 41 : 31; return OK; }
int nvmlDeviceGetTemperatureThreshold(long gpu, int kind, unsigned *into) { *into = 89; return OK; }
int nvmlDeviceGetPerformanceState(long gpu, unsigned *into) { *into = 0; return OK; }
int nvmlDeviceGetPowerUsage(long gpu, unsigned *into) { *into = isBusy(gpu) ? 250000 : 69850; return OK; }
int nvmlDeviceGetPowerManagementLimit(long gpu, unsigned *into) { *into = 700000; return OK; }
int nvmlDeviceGetFanSpeed(long gpu, unsigned *into) { return NOT_SUPPORTED; }
int nvmlDeviceGetClockInfo(long gpu, int kind, unsigned *into) { *into = kind == 2 ? 2619 : isBusy(gpu) ? 1980 : 345; return OK; }
int nvmlDeviceGetCurrentClocksEventReasons(long gpu, unsigned long long *into) { *into = 1; return OK; }
int nvmlDeviceGetMigMode(long gpu, unsigned *current, unsigned *pending) { *current = *pending = 0; return OK; }
int nvmlDeviceGetTotalEccErrors(long gpu, int corrected, int counter, unsigned long long *into) { *into = 0; return OK; }
int nvmlDeviceGetComputeMode(long gpu, int *into) { *into = 0; return OK; }
int nvmlDeviceGetCudaComputeCapability(long gpu, int *major, int *minor) { *major = 9; *minor = 0; return OK; }
int nvmlDeviceGetComputeRunningProcesses_v3(long gpu, unsigned *count, process *into) {
	unsigned room = *count;
	held(gpu, NULL, count);
	if (*count > room) return INSUFFICIENT_SIZE;
	held(gpu, into, count);
	return OK;
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(long gpu, unsigned *count, process *into) { *count = 0; return OK; }

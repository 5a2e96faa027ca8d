/*
A stand-in for libnvidia-ml.so.1: two GPUs, the second one split by MIG. NVML_STUB in the environment holds words that make it fail.
With -DOLD it lacks what later versions of the library brought.
*/
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { int index; int part; } device;
static device gpus[2] = {{0, -1}, {1, -1}};
static device parts[2] = {{1, 0}, {1, 1}};

typedef struct { char busIdLegacy[16]; unsigned domain, bus, device, pciDeviceId, pciSubSystemId; char busId[32]; } pci;
typedef struct { unsigned long long total, free, used; } memory_v1;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory_v2;
typedef struct { unsigned pid; unsigned long long used; } process_v1;
typedef struct { unsigned pid; unsigned long long used; unsigned gpuInstanceId, computeInstanceId; } process_v2;
typedef struct { unsigned fieldId, scopeId; long long timestamp, latency; int valueType, code; unsigned long long value; } field;
typedef struct { unsigned pid; unsigned long long time; unsigned sm, memory, encoder, decoder; } sample;

static const unsigned long long MiB = 1024 * 1024;
enum { OK = 0, NOT_SUPPORTED = 3, NO_PERMISSION = 4, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, GPU_IS_LOST = 15, UNKNOWN = 999 };

static int told(const char *word) {
	const char *words = getenv("NVML_STUB");
	return words != NULL && strstr(words, word) != NULL;
}

static int copy(const char *text, char *into, unsigned length) {
	if (strlen(text) + 1 > length) return INSUFFICIENT_SIZE;
	strcpy(into, text);
	return OK;
}

int nvmlInit_v2(void) { return told("init-fails") ? UNKNOWN : OK; }
int nvmlShutdown(void) { return OK; }
int nvmlSystemGetDriverVersion(char *into, unsigned length) { return copy("580.65.06", into, length); }

int nvmlDeviceGetCount_v2(unsigned *count) {
	if (told("hang")) for (;;) pause();
	if (told("crash")) abort();
	*count = 2;
	return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, device **into) {
	if (index == 1 && told("lost-handle")) return GPU_IS_LOST;
	*into = &gpus[index];
	return OK;
}

int nvmlDeviceGetUUID(device *gpu, char *into, unsigned length) {
	char text[80];
	sprintf(text, gpu->part < 0 ? "GPU-%d" : "MIG-%d-%d", gpu->index, gpu->part);
	return copy(text, into, length);
}

int nvmlDeviceGetName(device *gpu, char *into, unsigned length) {
	return copy(gpu->part < 0 ? "NVIDIA H100 80GB HBM3" : "NVIDIA H100 80GB HBM3 MIG 3g.40gb", into, length);
}

int nvmlDeviceGetPciInfo_v3(device *gpu, pci *into) {
	memset(into, 0, sizeof *into);
	sprintf(into->busId, "00000000:%02X:00.0", 10 + gpu->index);
	return OK;
}

int nvmlDeviceGetMemoryInfo(device *gpu, memory_v1 *into) {
	if (gpu->index == 1 && told("lost")) return GPU_IS_LOST;
	*into = (memory_v1){80000 * MiB, 79000 * MiB, 1000 * MiB + 1};
	return OK;
}

#ifndef OLD
int nvmlDeviceGetMemoryInfo_v2(device *gpu, memory_v2 *into) {
	if (into->version != (sizeof(memory_v2) | (2 << 24))) return 2;
	if (gpu->index == 1 && told("lost")) return GPU_IS_LOST;
	if (gpu->index == 1 && told("no-memory")) return NOT_SUPPORTED;
	if (gpu->index == 1 && told("unknown")) return UNKNOWN;
	into->total = (gpu->part < 0 ? 81559 : 40448) * MiB;
	into->reserved = 612 * MiB;
	into->free = 40000 * MiB;
	into->used = (gpu->part < 0 ? 40123 : 12) * MiB + 5;
	return OK;
}
#endif

int nvmlDeviceGetUtilizationRates(device *gpu, unsigned *into) {
	if (gpu->index == 1) return NOT_SUPPORTED;
	into[0] = 97;
	into[1] = 41;
	return OK;
}

int nvmlDeviceGetTemperature(device *gpu, int sensor, unsigned *into) { *into = sensor == 0 ? 61 : 0; return OK; }
int nvmlDeviceGetPerformanceState(device *gpu, int *into) { *into = 0; return OK; }
int nvmlDeviceGetTemperatureThreshold(device *gpu, int kind, unsigned *into) {
	*into = kind == 1 ? (gpu->index == 0 && told("hot") ? 61 : 89) : 0;
	return OK;
}
int nvmlDeviceGetPowerUsage(device *gpu, unsigned *into) { *into = 640500; return told("no-power") ? NO_PERMISSION : OK; }
int nvmlDeviceGetPowerManagementLimit(device *gpu, unsigned *into) { *into = 700000; return OK; }
int nvmlDeviceGetFanSpeed(device *gpu, unsigned *into) { return NOT_SUPPORTED; }
int nvmlDeviceGetClockInfo(device *gpu, int kind, unsigned *into) { *into = kind == 1 ? 1755 : kind == 2 ? 2619 : 0; return OK; }
#ifdef OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(device *gpu, unsigned long long *into) { *into = 4; return OK; }
#else
int nvmlDeviceGetCurrentClocksEventReasons(device *gpu, unsigned long long *into) { *into = 4; return OK; }
int nvmlDeviceGetMigMode(device *gpu, unsigned *current, unsigned *pending) { *current = *pending = gpu->index; return OK; }
int nvmlDeviceGetMaxMigDeviceCount(device *gpu, unsigned *into) { *into = 7; return OK; }
int nvmlDeviceGetMigDeviceHandleByIndex(device *gpu, unsigned index, device **into) {
	if (index > 1) return NOT_FOUND;
	if (index == 1 && told("part-lost")) return UNKNOWN;
	*into = &parts[index];
	return OK;
}
int nvmlDeviceGetGpuInstanceId(device *gpu, unsigned *into) { *into = gpu->part + 1; return OK; }
int nvmlDeviceGetComputeInstanceId(device *gpu, unsigned *into) { *into = 0; return OK; }
#endif

int nvmlDeviceGetTotalEccErrors(device *gpu, int corrected, int counter, unsigned long long *into) {
	*into = corrected == 1 && counter == 0 ? (told("ecc") ? 3 : 0) : 99;
	return OK;
}
int nvmlDeviceGetRetiredPagesPendingStatus(device *gpu, int *into) {
	*into = 1;
	return gpu->index == 1 && told("pages") ? OK : NOT_SUPPORTED;
}
#ifndef OLD
int nvmlDeviceGetRemappedRows(device *gpu, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
	*corrected = *uncorrected = 1;
	*pending = told("pending") || told("rows");
	*failed = gpu->index == 0 && told("rows");
	return OK;
}
int nvmlDeviceGetFieldValues(device *gpu, int count, field *into) {
	if (count != 1) return 2;
	into->code = told("no-recovery") && into->fieldId == 230 ? NOT_SUPPORTED : OK;
	into->value = into->fieldId == 230 ? (told("drain") ? 4 : told("imex") ? 6 : 0)
		: told("status") && into->fieldId == 226 + gpu->index;
	return OK;
}
#endif
int nvmlDeviceGetComputeMode(device *gpu, int *into) { *into = gpu->index == 0 ? 0 : 3; return OK; }
int nvmlDeviceGetCudaComputeCapability(device *gpu, int *major, int *minor) { *major = 9; *minor = 0; return OK; }

/* On which part of MIG a process is: on none, or of the second GPU on the second. */
#ifdef OLD
#define PUT_ON_PART(row, gpu)
#else
#define PUT_ON_PART(row, gpu)                                                \
		row.gpuInstanceId = gpu->index == 1 ? 2 : ~0U;                       \
		row.computeInstanceId = gpu->index == 1 ? 0 : ~0U;
#endif

/* Pids from 100 on, each with as many MiB; one whose memory is not told. */
#define LIST(name, process, first, many)                                     \
	int name(device *gpu, unsigned *count, process *into) {                  \
		unsigned length = gpu->index == 1 ? told("part-process") : told("crowd") ? many : 2;    \
		if (gpu->index == 0 && told("no-processes")) return NO_PERMISSION;   \
		if (*count < length) { *count = length; return INSUFFICIENT_SIZE; }  \
		memset(into, 0, length * sizeof *into);                              \
		for (unsigned place = 0; place < length; place++) {                  \
			into[place].pid = first + place;                                 \
			PUT_ON_PART(into[place], gpu)                                    \
			into[place].used = place == 1 ? ~0ULL : (first + place) * MiB;   \
		}                                                                    \
		*count = length;                                                     \
		return OK;                                                           \
	}

#ifdef OLD
LIST(nvmlDeviceGetComputeRunningProcesses, process_v1, 100, 500)
LIST(nvmlDeviceGetGraphicsRunningProcesses, process_v1, 101, 2)
#else
LIST(nvmlDeviceGetComputeRunningProcesses_v3, process_v2, 100, 500)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, process_v2, 101, 2)

int nvmlDeviceGetProcessUtilization(device *gpu, sample *into, unsigned *count, unsigned long long since) {
	if (gpu->index == 1 || since >= 2000) return NOT_FOUND;
	if (*count < 2) { *count = 2; return INSUFFICIENT_SIZE; }
	into[0] = (sample){100, 2000, 63, 10, 0, 0};
	into[1] = (sample){100, 1000, 12, 10, 0, 0};
	*count = 2;
	return OK;
}
#endif

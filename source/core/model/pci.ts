const form = /^(?<domain>[\da-f]{1,8}):(?<bus>[\da-f]{2}):(?<device>[\da-f]{2})\.(?<unit>[\da-f])$/iv;

/**
One spelling for a PCI address, the one of nvidia-smi's tables: `0000:0b:00.0` -> `00000000:0B:00.0`. In this spelling the order of
the texts is the order on the bus, which is the order of GPU indices. Undefined for anything else.
*/
export const normalizePciBusId = (text: string): string | undefined => {
	const {domain, bus, device, unit} = form.exec(text.trim())?.groups ?? {};
	return domain === undefined ? undefined : `${domain.padStart(8, '0')}:${bus}:${device}.${unit}`.toUpperCase();
};

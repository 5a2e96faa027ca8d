/**
The first 12 characters of the id of the container that a process runs in, as `docker ps` shows them, from its control groups
(cgroups(7), both versions). Docker, containerd, Podman, CRI-O and Kubernetes each write the path otherwise, but all end it in the id:

    12:memory:/docker/<id>
    0::/system.slice/docker-<id>.scope
    0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-<id>.scope/container
    1:name=systemd:/kubepods/burstable/pod<uuid>/<id>
    0::/kubepods.slice/kubepods-pod<uuid>.slice/cri-containerd-<id>.scope
    0::/system.slice/containerd.service/kubepods-besteffort-pod<uuid>.slice:cri-containerd:<id>

The innermost counts. Undefined outside of containers.
*/
export const parseContainerId = (cgroup: string): string | undefined => {
	for (const line of cgroup.split('\n')) {
		const path = line.split(':').slice(2);
		const ids = path
			.join(':')
			.matchAll(/(?:^|[\-\/:])(?<prefix>conmon-)?(?<id>[\da-f]{64})(?=[.\/]|$)/gv)
			.filter(({groups}) => groups?.['prefix'] === undefined)
			.toArray();
		const id = ids.at(-1)?.groups?.['id'];
		if (id !== undefined) {
			return id.slice(0, 12);
		}
	}

	return undefined;
};

/** Other hosts, played by an ssh stub that logs its calls. */
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Box} from '../../_helpers/program/cli.js';
import {stubTool} from '../../_helpers/machine/stub-tool.js';

/** `good` answers after a moment, `lost` is unreachable, `slow` never answers, and the others are hostile. */
const lines = String.raw`
for word do if [ "$host" = next ]; then host="$word"; fi; if [ "$word" = -- ]; then host=next; fi; done
echo "begin $host" >> "$HOME/asked"
case "$host" in
good) sleep 0.2; case "$*" in *'canhazgpu report'*) cat "$HOME/report.json";; *) cat "$HOME/good.json";; esac;;
lost) echo 'No route to host' >&2; exit 255;;
slow) sleep 20;;
huge) echo '['; yes '{"gpu_id":0,"status":"AVAILABLE","note":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},';;
deep) printf '[{"gpu_id":0,"status":"AVAILABLE","note":'; head -c 100000 /dev/zero | tr '\0' '['; head -c 100000 /dev/zero | tr '\0' ']'; echo '}]';;
many) echo '['; yes '{"gpu_id":1,"status":"IN_USE"},' | head -n 50000; echo '{"gpu_id":2,"status":"IN_USE"}]';;
shared) echo '[{"gpu_id":0,"status":"IN_USE","shares":[{"user":"dan","type":"RUN"},{"user":"erin","type":"RUN"}]}]';;
rude) printf '[{"gpu_id":0,"status":"\\u001b[31mIN_USE","user":"<img src=x onerror=xss=1>","note":"\\u001b]0;x\\u0007\\u202eabc","processes":7,"health":"x"}]\n';;
esac
echo "end $host" >> "$HOME/asked"
`;

export type OtherHosts = {
	readonly environment: Readonly<Record<string, string>>;
	/** Sets the user in the answers of `good`. */
	readonly say: (user: string) => void;
	/** Makes `good` fail. */
	readonly fall: () => void;
	/** Returns how often a host was asked. */
	readonly asked: (host: string) => number;
	/** Returns the maximum number of concurrent calls to a host. */
	readonly mostAtOnce: (host: string) => number;
	/** Returns the arguments of each ssh call. */
	readonly calls: () => readonly string[];
	/** Returns the pids of running ssh processes. */
	readonly running: () => readonly number[];
};

export function playHosts(box: Box, names: readonly string[]): OtherHosts {
	const log = path.join(box.home, 'asked');
	writeFileSync(log, '');
	const ssh = stubTool(box, 'ssh', lines);
	const noted = (host: string): readonly string[] =>
		readFileSync(log, 'utf8')
			.split('\n')
			.flatMap((line) => (line.endsWith(` ${host}`) ? [line.split(' ', 1)[0]!] : []));
	const answer = path.join(box.home, 'good.json');
	const say = (user: string): void => {
		writeFileSync(
			answer,
			`${JSON.stringify([
				{gpu_id: 0, status: 'IN_USE', user, duration: '1h 0m 0s', type: 'RUN', gpu_model: 'H100'},
				{gpu_id: 1, status: 'AVAILABLE', details: 'free for 2h 0m 0s', gpu_model: 'H100'},
			])}\n`,
		);
	};

	say('carol');
	writeFileSync(
		path.join(box.home, 'report.json'),
		`${JSON.stringify({
			users: [{name: '\u{1B}[31mcarol', gpu_hours: 12.5, percentage: 100, run_count: 3, manual_count: 1, more: 'x'}],
			total_gpu_hours: 12.5,
			total_reservations: 4,
			unique_users: 1,
			start_date: '2026-01-01T00:00:00Z',
			end_date: '2026-01-08T00:00:00Z',
			days: 7,
		})}\n`,
	);
	return {
		environment: {
			PATH: ssh.searchPath,
			CANHAZGPU_REMOTE_HOSTS: names.join(','),
			CANHAZGPU_WEB_HOSTS_INTERVAL: '1s',
		},
		say,
		fall() {
			writeFileSync(answer, '');
		},
		asked: (host) => noted(host).filter((word) => word === 'begin').length,
		mostAtOnce(host) {
			let atOnce = 0;
			let most = 0;
			for (const word of noted(host)) {
				atOnce += word === 'begin' ? 1 : -1;
				most = Math.max(most, atOnce);
			}

			return most;
		},
		calls: ssh.calls,
		running: ssh.running,
	};
}

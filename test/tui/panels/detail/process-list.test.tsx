import {expect, test} from 'vitest';
import {ProcessHead, ProcessLine} from '../../../../source/tui/panels/detail/process-list.js';
import {drawn, lines, painted} from '../../_drawn.js';
import {stateOf} from '../../_harness.js';
import {createBox, sceneTime} from '../../_world.js';

const state = await stateOf(await createBox(1), {columns: 120, rows: 30});

const known = {
	pid: 81_234,
	user: 'alice',
	commandLine: '/opt/bin/vllm serve',
	memoryUsedMiB: 61_645,
	utilizationPercent: 84.4,
	cpuPercent: 312,
	startTime: sceneTime - 4330,
	containerId: '4f5e6d7c8b9a01',
};
const unknown = {pid: 7, name: 'wor\u{1B}[31mker'};

test.each([
	[40, 'PID     USER     MEM COMMAND', '81234   alice    60G vllm serve in 4f5e…', '7       ?        N/A └─ worker'],
	[
		44,
		'PID     USER   %SM   MEM COMMAND',
		'81234   alice   84   60G vllm serve in 4f5e…',
		'7       ?        -   N/A └─ worker',
	],
	[
		60,
		'PID      USER      %SM    MEM    CPU    TIME  COMMAND',
		'81234    alice      84    60G   312%   1h12m  vllm serve in…',
		'7        ?           -    N/A      -       -  └─ worker',
	],
	[
		100,
		'PID      USER          %SM    MEM    CPU    TIME  COMMAND',
		'81234    alice          84    60G   312%   1h12m  vllm serve in 4f5e6d7c8b9…',
		'7        ?               -    N/A      -       -  └─ worker',
	],
])('ProcessHead and ProcessLine in %i columns', (width, ...expected) => {
	const list = (
		<>
			<ProcessHead width={width} />
			<ProcessLine process={known} depth={0} isSquatter={false} width={width} />
			<ProcessLine process={unknown} depth={1} isSquatter={false} width={width} />
		</>
	);
	expect(drawn(list, {state, columns: width})).toBe(lines(...expected));
});

test('ProcessLine of a process whose user is not the holder is a warning', () => {
	const line = <ProcessLine isSquatter process={unknown} depth={0} width={60} />;
	expect(drawn(line, {state})).toBe('7        ?           -    N/A      -       -  not the holder: worker');
	expect(painted(line, 'dark', {state})).not.toBe(
		painted(<ProcessLine process={unknown} isSquatter={false} depth={0} width={60} />, 'dark', {state}),
	);
});

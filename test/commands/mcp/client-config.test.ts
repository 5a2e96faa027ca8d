import {parse as parseToml} from 'smol-toml';
import {describe, expect, test} from 'vitest';
import {clientConfigOf, clientNames} from '../../../source/commands/mcp/client-config.js';
import {createBox} from '../../_helpers/program/cli.js';

const server = {command: 'canhazgpu', args: ['mcp']};

/** The path of the list of servers in each client's configuration. */
const expected: Readonly<Record<(typeof clientNames)[number], unknown>> = {
	claude: {mcpServers: {canhazgpu: {type: 'stdio', ...server}}},
	codex: {mcp_servers: {canhazgpu: {...server, tool_timeout_sec: 3600}}},
	cursor: {mcpServers: {canhazgpu: server}},
	vscode: {servers: {canhazgpu: {type: 'stdio', ...server}}},
	gemini: {mcpServers: {canhazgpu: {...server, timeout: 3_600_000}}},
};

describe('mcp --config', () => {
	test.each(clientNames)('prints a valid configuration for %s', (name) => {
		const {text, place} = clientConfigOf(name)!;
		expect(name === 'codex' ? parseToml(text) : JSON.parse(text)).toEqual(expected[name]);
		expect(place).toMatch(/\./v);
	});

	test('refuses an unknown client and the path of a config file', async () => {
		expect(clientConfigOf('toString')).toBeUndefined();
		const box = createBox();
		const printed = await box.run('mcp --config codex');
		expect([printed.exitCode, printed.stdout.split('\n', 1)[0]]).toEqual([0, '[mcp_servers.canhazgpu]']);
		expect(printed.stderr).toBe('Put this in ~/.codex/config.toml\n');
		const wrong = await box.run('mcp --config /etc/canhazgpu.yaml');
		expect(wrong).toMatchObject({exitCode: 2, stdout: ''});
		expect(wrong.stderr).toContain('The clients are: claude, codex, cursor, vscode, gemini.');
		box.remove();
	});
});

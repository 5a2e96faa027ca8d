type ClientConfig = {
	readonly place: string;
	readonly text: string;
};

const server = {command: 'canhazgpu', args: ['mcp']};

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

export const clientNames = ['claude', 'codex', 'cursor', 'vscode', 'gemini'] as const;

type ClientName = (typeof clientNames)[number];

const configs: Readonly<Record<ClientName, ClientConfig>> = {
	// https://code.claude.com/docs/en/mcp
	claude: {
		place: '.mcp.json in a project. Or, for all projects: claude mcp add --scope user canhazgpu -- canhazgpu mcp',
		text: json({mcpServers: {canhazgpu: {type: 'stdio', ...server}}}),
	},
	// https://developers.openai.com/codex/mcp. By default, Codex gives up a call after 60 s, which is too short for the queue.
	codex: {
		place: '~/.codex/config.toml',
		text: '[mcp_servers.canhazgpu]\ncommand = "canhazgpu"\nargs = ["mcp"]\ntool_timeout_sec = 3600',
	},
	// https://cursor.com/docs/context/mcp
	cursor: {
		place: '~/.cursor/mcp.json, or .cursor/mcp.json in a project',
		text: json({mcpServers: {canhazgpu: server}}),
	},
	// https://code.visualstudio.com/docs/agents/reference/mcp-configuration
	vscode: {
		place: '.vscode/mcp.json in a workspace, or mcp.json in your user profile',
		text: json({servers: {canhazgpu: {type: 'stdio', ...server}}}),
	},
	// https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md. The timeout is in milliseconds.
	gemini: {
		place: '~/.gemini/settings.json, or .gemini/settings.json in a project',
		text: json({mcpServers: {canhazgpu: {...server, timeout: 3_600_000}}}),
	},
};

export const clientConfigOf = (name: string): ClientConfig | undefined =>
	Object.hasOwn(configs, name) ? configs[name as ClientName] : undefined;

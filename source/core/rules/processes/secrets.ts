/** Endings of names that hold secrets, in flags, assignments and headers. `--max-tokens 512` is not a secret. */
const secretName = '(?:token|key|secret|passw(?:or)?d|passphrase|pwd|credentials?)';

/** Patterns for secrets that follow a name. The text in the group `name` is kept. */
const named: readonly RegExp[] = [
	// The part before `@` in `https://user:VALUE@host`. This pattern comes first, because the others could change the address.
	/(?<name>\b[a-z][\d+\-.a-z]*:\/\/)[^\s#\/?]+(?=@)/giv,
	// `--hf-token VALUE`, `-password VALUE`. Another flag is not a value.
	new RegExp(String.raw`(?<name>(?<=^|\s)-[\w\-.]*${secretName}\s+)(?!-)\S+`, 'giv'),
	// `--api-key=VALUE`, `HF_TOKEN=VALUE`, `trainer.api_key=VALUE`.
	new RegExp(String.raw`(?<name>(?<=^|\s)[\w+\-.]*${secretName}=)\S+`, 'giv'),
	// Inside a longer word: `pretrained=x,token=VALUE`, `?api_key=VALUE&x=1`.
	new RegExp(String.raw`(?<name>[&,;?\{][\w\-.]*${secretName}=)[^\s&,;\}]+`, 'giv'),
	// `"api_key": "VALUE"`, `x-api-key: VALUE`.
	new RegExp(String.raw`(?<name>${secretName}["']?\s*:\s*["']?)[^\s"',\}]+`, 'giv'),
	// `Authorization: Bearer VALUE`.
	/(?<name>\bauthorization\s*[:=]\s*["']?(?:(?:basic|bearer|token)\s+)?)[^\s"']+/giv,
	/(?<name>\bbearer\s+)[\w+\-.\/=~]{8,}/giv,
];

/** Secrets that are recognized by a known prefix. A word with only lowercase letters, such as `hf_models`, is not a secret. */
const shapes =
	/(?<![\w\-])(?:hf_(?=[a-z]*[\dA-Z])[\dA-Za-z]{6,}|sk-(?=[\w\-]*[\dA-Z])[\w\-]{6,}|gh[oprsu]_[\dA-Za-z]{6,}|github_pat_\w{6,}|glpat-[\w\-]{6,}|A[KS]IA[\dA-Z]{6,}|xox[abeprs]-[\w\-]{6,}|AIza[\w\-]{20,}|nvapi-[\w\-]{6,}|eyJ[\w\-]+\.[\w\-]+\.[\w\-]*)/gv;

/** A fast first check: a command line without any of these words contains no known secret. */
const suspicious =
	/tok|key|sec|pass|pwd|cred|auth|bear|:\/\/|hf_|sk-|gh[oprsu]_|github_|glpat|a[ks]ia|xox|aiza|nvapi|eyj/iv;

/** Replaces values that look like secrets with `***`. Other secrets cannot be recognized. */
export function maskSecrets(commandLine: string): string {
	if (!suspicious.test(commandLine)) {
		return commandLine;
	}

	let masked = commandLine;
	for (const pattern of named) {
		masked = masked.replaceAll(pattern, '$<name>***');
	}

	return masked.replaceAll(shapes, '***');
}

const secretFlag = new RegExp(String.raw`^-[\w\-.]*${secretName}$`, 'iv');
const secretAssignment = new RegExp(String.raw`^[\w+\-.]*${secretName}=`, 'iv');

/** Replaces secrets in the words of a command. Unlike in a command line, the end of a secret with blanks is known. */
export const maskWords = (words: readonly string[]): readonly string[] =>
	words.map((word, index) => {
		const isValue = index > 0 && secretFlag.test(words[index - 1]!) && !word.startsWith('-');
		const [assignment] = secretAssignment.exec(word) ?? [];
		return isValue ? '***' : assignment === undefined ? maskSecrets(word) : `${assignment}***`;
	});

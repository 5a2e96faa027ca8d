/* Files that the program holds as text (`textExtensions` of .config/build.js): help topics, scripts of shells and of Redis. */

declare module '*.md' {
	const text: string;
	export default text;
}

declare module '*.bash' {
	const text: string;
	export default text;
}

declare module '*.zsh' {
	const text: string;
	export default text;
}

declare module '*.fish' {
	const text: string;
	export default text;
}

declare module '*.lua' {
	const text: string;
	export default text;
}

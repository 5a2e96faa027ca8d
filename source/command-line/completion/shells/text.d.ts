/* The scripts, embedded as text when the program is built. */

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

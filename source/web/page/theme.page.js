/* Before anything is drawn, so that no light page flashes up in the dark. Not a module: those run later. */
{
	const remembered = () => {
		try {
			return localStorage.getItem('canhazgpu-theme');
		} catch {
			// A browser may forbid to remember anything.
			return null;
		}
	};

	const chosen = remembered();
	const isLight = chosen === null ? matchMedia('(prefers-color-scheme: light)').matches : chosen === 'light';
	document.documentElement.dataset.theme = isLight ? 'light' : 'dark';
}

/*
Loads the library only for text that needs it, because its Unicode tables take longer to load than a usual table takes
to print. Only a CommonJS module can load another one synchronously and on demand.
*/
exports.stringWidth = (text) => require('string-width').default(text);

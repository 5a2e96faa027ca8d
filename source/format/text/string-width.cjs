/*
Loads the library at the first text that needs it, which hardly any table holds: with the rules of Unicode that it sets up, it costs more
than the rest of such a table. Only this form of a module can load another one late and without a promise.
*/
exports.stringWidth = (text) => require('string-width').default(text);

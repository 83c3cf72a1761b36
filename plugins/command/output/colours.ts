/** Removes colours from the output of programs that take a pipe for a terminal. */

export function withoutColours(text: string): string {
  // `node:util` is not imported, because as an ES module it opens the standard streams, and importing a plugin has no effects.
  return process.getBuiltinModule('node:util').stripVTControlCharacters(text)
}

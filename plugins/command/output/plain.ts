/** Owns taking the paint off: programs that take a pipe for a terminal colour what they print. */

export function withoutColours(text: string): string {
  // Not imported: as an ES module `node:util` opens the standard streams, and importing a plugin touches nothing.
  return process.getBuiltinModule('node:util').stripVTControlCharacters(text)
}

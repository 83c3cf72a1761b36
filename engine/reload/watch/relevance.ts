/** Decides which names within a watched folder matter, so that logs and what editors leave behind cause no reload. */

/** What a mapping or a transform may be made of. A file of another kind matters once it is named itself. */
const kinds = /\.(ya?ml|jsonc?|[cm]?[jt]sx?|txt|md|html?|css|csv|tsv|xml|sql|graphql|hbs|toml|wasm|node)$/i

/** Whether a file of this name matters. */
export function isRelevantFile(name: string): boolean {
  return !name.startsWith('.') && kinds.test(name)
}

/** Whether a folder of this name is looked into. What packages install matters only where an import names it. */
export function isRelevantFolder(name: string): boolean {
  return !name.startsWith('.') && !name.endsWith('~') && name !== 'node_modules'
}

/** Decides which names in a watched folder matter, so that logs and temporary files of editors cause no reload. */

/**
 * The kinds of files that mappings and transforms can be made of. A file of another kind matters only if it is named
 * itself.
 */
const kinds = /\.(ya?ml|jsonc?|[cm]?[jt]sx?|txt|md|html?|css|csv|tsv|xml|sql|graphql|hbs|toml|wasm|node)$/i

/** True if a file of this name matters. */
export function isRelevantFile(name: string): boolean {
  return !name.startsWith('.') && kinds.test(name)
}

/** True if a folder of this name is scanned. Installed packages matter only where an import names them. */
export function isRelevantFolder(name: string): boolean {
  return !name.startsWith('.') && !name.endsWith('~') && name !== 'node_modules'
}

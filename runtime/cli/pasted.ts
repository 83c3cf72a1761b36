/** Writes commands that the user may paste: the name of this program, and words quoted for a shell. */

import type { Io } from './io.ts'

/** In a clone the program is not on the path, and a command that npm started can be started so again. */
export function programName({ env }: Pick<Io, 'env'>): string {
  return env['npm_command'] === undefined ? 'reveille' : 'npx reveille'
}

/** A command to be pasted, in backticks: `npx reveille replay 3f9a1c --config local/reveille.yaml`. */
export function pasted(words: string, io: Pick<Io, 'env' | 'config'>): string {
  const options = io.config === undefined ? '' : ` --config ${shellWord(io.config)}`
  return `\`${programName(io)} ${words}${options}\``
}

/** Quotes a text only where a shell would split or change it. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Owns what is shown to be pasted: how the user calls this program, and words that a shell keeps whole. */

import type { Io } from './io.ts'

/** In a clone the program is not on the path; whoever came through npm gets there the same way again. */
export function programName({ env }: Pick<Io, 'env'>): string {
  return env['npm_command'] === undefined ? 'reveille' : 'npx reveille'
}

/** A command to be pasted, in backticks: `npx reveille replay 3f9a1c --config local/reveille.yaml`. */
export function pasted(words: string, io: Pick<Io, 'env' | 'config'>): string {
  const options = io.config === undefined ? '' : ` --config ${shellWord(io.config)}`
  return `\`${programName(io)} ${words}${options}\``
}

/** Quoted only where a shell would take it apart. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

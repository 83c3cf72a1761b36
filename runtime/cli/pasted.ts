/** Owns what is shown to be pasted: how the user calls this program, and words that a shell keeps whole. */

import type { Io } from './io.ts'

/** In a clone the program is not on the path; whoever came through npm gets there the same way again. */
export function programName({ env }: Pick<Io, 'env'>): string {
  return env['npm_command'] === undefined ? 'reveille' : 'npx reveille'
}

/** Quoted only where a shell would take it apart. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Creates the errors of a turn, with their codes and what the operator can do. */

import { PluginError, type PluginErrorOptions, permanentError, transientError } from '@reveille/kit'
import type { ProgramEnd } from './process/program.ts'

/** Maximum length of a message, in characters. The end of the program's own words is kept, since it gives the reason. */
const maxMessageLength = 1000

export function abortedError(cause: unknown): PluginError {
  return transientError('aborted', 'The turn was called off, and the program was stopped.', { cause })
}

/** Returns the error for a program that did not start. `error` is the system's. */
export function notStarted(
  command: string,
  error: NodeJS.ErrnoException,
  path: string | undefined,
): PluginError {
  switch (error.code) {
    case 'ENOENT':
      return permanentError(
        'not-found',
        command.includes('/')
          ? `The program ${command} was not found: install it there, or name another as \`command\`.`
          : `The program ${command} was not found: install it, or name its absolute path as \`command\`. ` +
              `The PATH of the gateway: ${path || 'none is set'}.`,
        { wholeService: true },
      )
    case 'EACCES':
    case 'EPERM':
    case 'ENOEXEC':
      return permanentError(
        'not-found',
        `The program ${command} may not be run (${error.code}): is it executable?`,
        { wholeService: true },
      )
    case 'E2BIG':
      return permanentError(
        'too-long',
        `The arguments of ${command} are too long for this system; use input: stdin.`,
      )
    default:
      // The system is out of processes, memory or files, which passes.
      return transientError(
        'not-started',
        `The program ${command} cannot be started (${error.code ?? error.name}).`,
      )
  }
}

export function noFolder(cwd: string): PluginError {
  return permanentError(
    'not-found',
    `The folder ${cwd} that the program should start in is not there, nor can it be made; name another one as cwd.`,
    { wholeService: true },
  )
}

/** End of a program, and the error that its output reports. */
export type Exit = Omit<Extract<ProgramEnd, { kind: 'exited' }>, 'kind'> & {
  readonly error: string | undefined
}

export function exited(
  command: string,
  { code, signal, error, stderr }: Exit,
  facts: Pick<PluginErrorOptions, 'retryable' | 'wholeService'>,
): PluginError {
  const how = code === null ? `was ended by ${signal ?? 'a signal'}` : `ended with code ${code}`
  const why = [error, stderr].filter(Boolean).join('\n')
  return new PluginError(within(`${command} ${how}`, why), { ...facts, code: 'exit' })
}

export function failed(command: string, error: string, wholeService: boolean): PluginError {
  return permanentError('failed', within(`${command} says that it failed`, error), { wholeService })
}

export function unreadable(command: string, head: string): PluginError {
  const output = head === '' ? 'It printed nothing' : `It begins with: ${head}`
  return permanentError('bad-output', `What ${command} printed is not what output says. ${output}`)
}

export function overflowed(command: string, bytes: number): PluginError {
  return permanentError(
    'too-much-output',
    `${command} printed more than ${bytes} bytes and was stopped (maxOutputBytes).`,
  )
}

export function badModel(command: string, model: string): string {
  return `${command} takes no model named ${JSON.stringify(model)} (modelPattern).`
}

/** Joins both texts within the longest message. The end is kept, since programs print last what stopped them. */
function within(what: string, why: string): string {
  if (why === '') return `${what} and said nothing.`
  const room = maxMessageLength - what.length - 2
  return `${what}: ${why.length > room ? `…${why.slice(1 - room)}` : why}`
}

/** Owns how the person who sets a mailbox up is shown the page of the consent, and pastes where it led to. */

import type { Person } from '@reveille/kit'
import { printable } from '../../observe/printable.ts'
import { broken, type Io } from '../io.ts'
import type { Prompts } from '../prompts.ts'

export interface PersonOptions {
  readonly io: Io
  /** Absent: nobody is asked by questions. */
  readonly prompts: Prompts | undefined
  /** Whether a browser may be opened. */
  readonly browser: boolean
  /** Told when the person calls it off at a question; what is thrown there afterwards is the reason of `signal`. */
  callOff(reason: unknown): void
}

export function createPerson({ io, prompts, browser, callOff }: PersonOptions): Person {
  return {
    async show(url) {
      const isOpened = browser && io.columns !== undefined && hasScreen(io.env) && (await open(url, io))
      const text = isOpened
        ? 'Your browser asks for your consent. If it does not, open this address in it:'
        : 'Open this address in a browser, and give your consent there:'
      if (prompts === undefined) io.err(`${broken(text, io)}\n\n${url}\n\n`)
      else {
        prompts.note(text)
        // Without the bar at the left, which would be copied too.
        io.out(`\n${url}\n`)
      }
    },

    async ask(question, signal) {
      signal.throwIfAborted()
      if (prompts !== undefined) return asked(prompts, question, signal)
      if (io.line !== undefined) {
        io.err(`${broken(printable(question), io)}\n`)
        return io.line(signal)
      }
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    },
  }

  async function asked(prompts: Prompts, message: string, signal: AbortSignal): Promise<string> {
    try {
      return await prompts.secret({ message: printable(message) }, signal)
    } catch (error) {
      if (!signal.aborted) callOff(error)
      throw error
    }
  }
}

/** False where there is none after all: the address is shown anyway. */
async function open(url: string, { browse }: Io): Promise<boolean> {
  try {
    return (await browse?.(url)) ?? false
  } catch {
    return false
  }
}

/** On Linux a browser needs a display, but for WSL, where Windows has it. */
export function hasScreen(env: Io['env'], platform: NodeJS.Platform = process.platform): boolean {
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return false
  if (platform !== 'linux') return true
  return Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['WSL_DISTRO_NAME'])
}

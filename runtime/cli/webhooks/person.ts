/** Shows the person who sets a mailbox up the page of the consent, and asks for the address that it led to. */

import type { Person } from '@reveille/kit'
import { printable } from '../../observe/printable.ts'
import { type Io, wrapText } from '../io.ts'
import type { Prompts } from '../prompts.ts'

export interface PersonOptions {
  readonly io: Io
  /** Absent: there is no terminal for questions. */
  readonly prompts: Prompts | undefined
  /** Whether a browser may be opened. */
  readonly browser: boolean
  /** Is called when the person cancels at a question, which then throws the reason of its `signal`. */
  cancel(reason: unknown): void
}

export function createPerson({ io, prompts, browser, cancel }: PersonOptions): Person {
  return {
    async show(url) {
      const isOpened = browser && io.columns !== undefined && hasScreen(io.env) && (await open(url, io))
      const text = isOpened
        ? 'Your browser asks for your consent. If it does not, open this address in it:'
        : 'Open this address in a browser, and give your consent there:'
      if (prompts === undefined) io.err(`${wrapText(text, io)}\n\n${url}\n\n`)
      else {
        prompts.note(text)
        // The bar at the left, which a prompt has, would be copied too.
        io.out(`\n${url}\n`)
      }
    },

    async ask(question, signal) {
      signal.throwIfAborted()
      if (prompts !== undefined) return asked(prompts, question, signal)
      if (io.line !== undefined) {
        io.err(`${wrapText(printable(question), io)}\n`)
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
      if (!signal.aborted) cancel(error)
      throw error
    }
  }
}

/** False where no browser could be opened; the address is shown in any case. */
async function open(url: string, { browse }: Io): Promise<boolean> {
  try {
    return (await browse?.(url)) ?? false
  } catch {
    return false
  }
}

/** On Linux a browser needs a display, except on WSL, where Windows has it. A remote shell has none. */
export function hasScreen(env: Io['env'], platform: NodeJS.Platform = process.platform): boolean {
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return false
  if (platform !== 'linux') return true
  return Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['WSL_DISTRO_NAME'])
}

/** Shows the person at the terminal a page, and asks them. */

import path from 'node:path'
import type { Person, Question, Questions } from '@reveille/kit'
import { printable } from '../../observe/printable.ts'
import type { Io } from '../io.ts'
import type { Prompts } from '../prompts.ts'

export interface PersonOptions {
  readonly io: Io
  /** Absent: there is no terminal for questions. */
  readonly prompts: Prompts | undefined
  /** True if a browser may be opened. */
  readonly browser: boolean
}

export function createPerson({ io, prompts, browser }: PersonOptions): Person {
  return {
    ...(prompts && { questions: questionsAt(prompts, io) }),

    async show(url) {
      const isOpened = browser && io.columns !== undefined && hasScreen(io.env) && (await open(url, io))
      const text = isOpened
        ? 'Your browser asks for your consent. If it does not, open this address in it:'
        : 'Open this address in a browser, and give your consent there:'
      if (prompts === undefined) io.err(`${text}\n\n${url}\n\n`)
      else {
        prompts.note(text)
        // The bar at the left, which a prompt has, would be copied too.
        io.out(`\n${url}\n`)
      }
    },

    async ask(question, signal) {
      signal.throwIfAborted()
      if (prompts !== undefined) return prompts.secret({ message: printable(question) }, signal)
      if (io.line !== undefined) {
        io.err(`${printable(question)}\n`)
        return io.line(signal)
      }
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    },
  }
}

function questionsAt(prompts: Prompts, io: Io): Questions {
  const text = async ({ message, validate, ...question }: Question): Promise<string> => {
    const check = (answer: string) => {
      if (answer.trim() !== '') return validate?.(answer.trim())
      return question.fallback === undefined ? 'It is required.' : undefined
    }
    return (await prompts.text({ ...question, message: printable(message), validate: check })).trim()
  }
  return {
    text,
    path: async (question) => path.resolve(io.cwd, withHome(unquoted(await text(question)), io)),
  }
}

/** A file that is dropped onto a terminal arrives quoted for a shell. */
function unquoted(file: string): string {
  const [, , quoted] = /^(['"])(.+)\1$/.exec(file) ?? []
  return quoted ?? file.replaceAll('\\ ', ' ')
}

/** Resolves `~`, which a shell does for options but not for answers. */
function withHome(file: string, { env }: Io): string {
  const home = env['HOME'] ?? env['USERPROFILE']
  return home !== undefined && /^~[/\\]/.test(file) ? path.join(home, file.slice(2)) : file
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

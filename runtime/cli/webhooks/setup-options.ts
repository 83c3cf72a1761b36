/** Turns the options of `webhooks gmail setup` into the plugin's own names. */

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseJson, recordOf } from '@reveille/kit'
import { CommandFailure } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'

export interface GmailSetupOptions extends CommandOptions {
  readonly clientFile?: string
  readonly renewMinutes?: number
  /** Whether a browser may be opened. */
  readonly browser?: boolean
  /** Options that the plugin has by the same names. */
  readonly [wanted: string]: unknown
}

/** Leaves out options that were not given. @throws CommandFailure (bad usage) where the client's file cannot be used */
export async function wantedOf(options: GmailSetupOptions, io: Io): Promise<Record<string, unknown>> {
  const { clientFile, renewMinutes, browser: _browser, config: _config, json: _json, ...same } = options
  return {
    ...same,
    ...(renewMinutes !== undefined && { renewEveryMinutes: renewMinutes }),
    ...(clientFile !== undefined && { client: await readClient(clientFile, io) }),
  }
}

async function readClient(file: string, io: Io): Promise<unknown> {
  const { client, problem } = await tryClient(file, io)
  if (problem !== undefined) throw new CommandFailure(2, `--client-file ${file}: ${problem}`)
  return client
}

/** Far more than a client file has. Characters. */
const longestClient = 64 * 1024

/** The content of the file, or a sentence that says why it cannot be used and quotes nothing of it. */
export async function tryClient(
  file: string,
  io: Pick<Io, 'cwd' | 'env'>,
): Promise<{ readonly client?: unknown; readonly problem?: string }> {
  let text: string
  try {
    text = await readFile(path.resolve(io.cwd, withHome(file, io)), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { problem: 'There is no such file.' }
    if (code === 'EISDIR') return { problem: 'It is a folder: name the file in it.' }
    return { problem: `It cannot be read (${code ?? 'unknown'}).` }
  }
  const advice = 'It must be the JSON that the Google Cloud console gives to download.'
  if (text.length > longestClient) return { problem: advice }
  // Editors on Windows put a byte order mark before it.
  const client = parseJson(text.replace(/^\ufeff/, ''))
  if (client === undefined) return { problem: `It is no JSON. ${advice}` }
  return recordOf(client) === undefined ? { problem: advice } : { client }
}

/** Resolves `~`, which a shell does for options but not for answers. */
function withHome(file: string, { env }: Pick<Io, 'env'>): string {
  const home = env['HOME'] ?? env['USERPROFILE']
  return home !== undefined && /^~[/\\]/.test(file) ? path.join(home, file.slice(2)) : file
}

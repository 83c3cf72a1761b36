/** Owns what somebody says by options of `webhooks gmail setup`, in the words of the plugin. */

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { CommandFailure } from '../command-failure.ts'
import type { Io } from '../io.ts'

export interface GmailSetupOptions {
  readonly account?: string
  readonly clientFile?: string
  readonly project?: string
  readonly label?: string
  readonly mode?: 'pull' | 'push'
  readonly topic?: string
  readonly subscription?: string
  readonly pushEndpoint?: string
  readonly pushServiceAccount?: string
  readonly includeBody?: boolean
  readonly maxBytes?: number
  readonly renewMinutes?: number
  readonly again?: boolean
  /** False: no browser is opened. */
  readonly browser?: boolean
  readonly config?: string
  readonly json?: boolean
}

/** Without what was not said. @throws CommandFailure (bad usage) where the client's file is none */
export async function wantedOf(options: GmailSetupOptions, io: Io): Promise<Record<string, unknown>> {
  const { clientFile, renewMinutes, browser: _browser, config: _config, json: _json, ...same } = options
  return {
    ...same,
    ...(renewMinutes !== undefined && { renewEveryMinutes: renewMinutes }),
    ...(clientFile !== undefined && { client: await readClient(clientFile, io) }),
  }
}

async function readClient(file: string, io: Io): Promise<unknown> {
  const { client, complaint } = await tryClient(file, io)
  if (complaint !== undefined) throw new CommandFailure(2, `--client-file ${file}: ${complaint}`)
  return client
}

/** Far more than a client is. Bytes. */
const longestClient = 64 * 1024

/** What is in the file, or a sentence that says why it cannot be used; never anything of what it holds. */
export async function tryClient(
  file: string,
  io: Pick<Io, 'cwd' | 'env'>,
): Promise<{ readonly client?: unknown; readonly complaint?: string }> {
  let text: string
  try {
    text = await readFile(path.resolve(io.cwd, withHome(file, io)), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { complaint: 'There is no such file.' }
    if (code === 'EISDIR') return { complaint: 'It is a folder: name the file in it.' }
    return { complaint: `It cannot be read (${code ?? 'unknown'}).` }
  }
  const advice = 'It must be the JSON that the Google Cloud console gives to download.'
  if (text.length > longestClient) return { complaint: advice }
  try {
    // Editors on Windows put a mark before it.
    const client: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    const isObject = typeof client === 'object' && client !== null && !Array.isArray(client)
    return isObject ? { client } : { complaint: advice }
  } catch {
    // What the parser says quotes the text.
    return { complaint: `It is no JSON. ${advice}` }
  }
}

/** A shell does that for options; nobody does it for answers. */
function withHome(file: string, { env }: Pick<Io, 'env'>): string {
  const home = env['HOME'] ?? env['USERPROFILE']
  return home !== undefined && /^~[/\\]/.test(file) ? path.join(home, file.slice(2)) : file
}

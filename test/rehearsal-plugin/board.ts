/** Provides a channel that writes each part to a file, as one line of JSON. */

import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Channel, PluginError } from '@reveille/kit'
import type { RehearsalConfig } from './configuration.ts'

export const boardFile = 'board.jsonl'

/** A message to `nobody` fails with an error that repeats the secret and the text. */
export function createBoard({ folder, defaultTo, apiKey }: RehearsalConfig): Channel {
  return {
    id: 'board',
    limits: { part: 65_536, unit: 'utf16' },
    ...(defaultTo !== undefined && { defaultTo }),
    target: (to) => ({ key: to, kind: 'user' }),
    render: (markdown) => (markdown.trim() === '' ? [] : [{ text: markdown }]),
    async send({ text }, { target, key }) {
      if (target.key === 'nobody') throw new Error(`${apiKey} cannot send ${text}`)
      if (target.key === 'gone') throw new PluginError('Gone.', { code: 'gone', retryable: false })
      await appendFile(join(folder, boardFile), `${JSON.stringify({ to: target.key, text })}\n`)
      return { id: key }
    },
  }
}

/**
 * Provides a runner and a channel that kill the process once, at the moment that a file names. They record what they did
 * before in files outside the store.
 */

import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { definePlugin } from '@reveille/kit'

/**
 * - `asked`      the model was asked and has not answered
 * - `planned`    it has answered, and the delivery is being planned; the turn's end is not on disk
 * - `rendering`  the turn's end is on disk, and nothing was sent
 * - `sending`    the first part is about to go out
 * - `between`    the first part has its receipt, the second is about to go out
 * - `sent`       the last part is out and has no receipt
 */
export const moments = ['asked', 'planned', 'rendering', 'sending', 'between', 'sent'] as const
export type Moment = (typeof moments)[number]

export const askedFile = 'asked.jsonl'
export const wallFile = 'wall.jsonl'
const momentFile = 'moment'

/** Makes the process end when it reaches this moment next. */
export function dieAt(folder: string, moment: Moment): void {
  writeFileSync(join(folder, momentFile), moment)
}

export default definePlugin<{ folder: string }>({
  name: 'mortal-plugin',
  setup({ config: { folder } }) {
    const reach = (moment: Moment) => {
      const file = join(folder, momentFile)
      if (!existsSync(file) || readFileSync(file, 'utf8') !== moment) return
      rmSync(file)
      process.kill(process.pid, 'SIGKILL')
    }
    const note = (file: string, line: object) =>
      appendFileSync(join(folder, file), `${JSON.stringify(line)}\n`)

    return {
      runners: [
        {
          id: 'mortal',
          async run({ runId, attempt, prompt, history }) {
            note(askedFile, { runId, attempt, history: history.map(({ role, text }) => `${role}: ${text}`) })
            reach('asked')
            return { reply: `first part of ${prompt.length}|second part` }
          },
        },
      ],
      channels: [
        {
          id: 'wall',
          limits: { part: 4000, unit: 'utf16' },
          target(to) {
            reach('planned')
            return { key: to, kind: 'channel' }
          },
          render(markdown) {
            reach('rendering')
            return markdown.split('|').map((text) => ({ text }))
          },
          async send({ text }, { key }) {
            const isFirst = key.endsWith(':1')
            reach(isFirst ? 'sending' : 'between')
            note(wallFile, { key, text })
            if (!isFirst) reach('sent')
            return { id: key }
          },
        },
      ],
    }
  },
})

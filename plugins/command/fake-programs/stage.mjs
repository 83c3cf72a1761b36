/**
 * Owns what all fake programs share: conversations kept as files in `FAKE_PROGRAM_FOLDER`, and the parts that a test makes
 * them play by the file `mode` there: `fail`, `hang` (deaf to TERM, with a child as deaf) or `linger` (a child that
 * keeps standard output open).
 */

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const folder = process.env.FAKE_PROGRAM_FOLDER

export const mode = existsSync(path.join(folder, 'mode'))
  ? readFileSync(path.join(folder, 'mode'), 'utf8')
  : ''

/** As strict as the real program: what it does not know ends it, with the code that the real one uses. */
export function parse(args, options, { code, allowPositionals = false }) {
  try {
    return parseArgs({ args, options, allowPositionals })
  } catch (error) {
    fail(`error: ${error.message}`, code)
  }
}

export function fail(message, code = 1) {
  process.stderr.write(`${message}\n`)
  process.exit(code)
}

export function readPrompt() {
  const prompt = readFileSync(0, 'utf8').trim()
  return prompt === '' ? fail('Error: no prompt on standard input') : prompt
}

function fileOf(id) {
  mkdirSync(path.join(folder, 'conversations'), { recursive: true })
  return path.join(folder, 'conversations', `${id}.json`)
}

export function hasConversation(id) {
  return existsSync(fileOf(id))
}

/** Written before the answer, as the real ones do: a turn that is cut off leaves its conversation behind. */
export function say(id, prompt) {
  const said = hasConversation(id) ? JSON.parse(readFileSync(fileOf(id), 'utf8')) : []
  said.push(prompt)
  writeFileSync(fileOf(id), JSON.stringify(said))
  return said
}

export function replyTo(facts, prompt) {
  const told = Object.entries(facts).map(([name, value]) => `${name}=${value}`)
  return [...told, prompt].join('\n')
}

/** Plays the part; never settles when that is to hang. */
export async function play() {
  if (mode === 'hang') {
    process.on('SIGTERM', () => {})
    await leaveChild()
    await new Promise(() => setInterval(() => {}, 1000))
  }
  if (mode === 'linger') await leaveChild()
}

/** Settles once the child is deaf and has told who is there. */
async function leaveChild() {
  const deaf = `process.on('SIGTERM', () => {})
    setInterval(() => {}, 1000)
    require('fs').appendFileSync(process.env.FAKE_PROGRAM_FOLDER + '/pids', '${process.pid} ' + process.pid + '\\n')`
  const child = spawn(process.execPath, ['--eval', deaf], { stdio: ['ignore', 'inherit', 'inherit'] })
  child.unref()
  while (!existsSync(path.join(folder, 'pids'))) await wait(5)
}

/**
 * Shares the behaviour of all fake programs. Their conversations are files in `FAKE_PROGRAM_FOLDER`, where a test also sets
 * their behaviour in the file `mode`: `fail`, `fail <words>`, `hang` (it ignores TERM, as does its child) or `linger` (a child keeps standard
 * output open).
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

/** Parses arguments as strictly as the real program, and ends with its exit code at an unknown one. */
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

/** Writes the conversation before the answer, as the real programs do, so that a turn that is cut off leaves one behind. */
export function say(id, prompt) {
  const said = hasConversation(id) ? JSON.parse(readFileSync(fileOf(id), 'utf8')) : []
  said.push(prompt)
  writeFileSync(fileOf(id), JSON.stringify(said))
  return said
}

export function replyTo(facts, prompt) {
  const lines = Object.entries(facts).map(([name, value]) => `${name}=${value}`)
  return [...lines, prompt].join('\n')
}

/** Behaves as the mode says; never settles if the mode is to hang. */
export async function play() {
  if (mode === 'hang') {
    process.on('SIGTERM', () => {})
    await leaveChild()
    await new Promise(() => setInterval(() => {}, 1000))
  }
  if (mode === 'linger') await leaveChild()
}

/** Settles once the child ignores TERM and the ids of both processes are written. */
async function leaveChild() {
  const deaf = `process.on('SIGTERM', () => {})
    setInterval(() => {}, 1000)
    require('fs').appendFileSync(process.env.FAKE_PROGRAM_FOLDER + '/pids', '${process.pid} ' + process.pid + '\\n')`
  const child = spawn(process.execPath, ['--eval', deaf], { stdio: ['ignore', 'inherit', 'inherit'] })
  child.unref()
  while (!existsSync(path.join(folder, 'pids'))) await wait(5)
}

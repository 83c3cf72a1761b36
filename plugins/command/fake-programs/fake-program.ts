/** Sets up the test of a recipe: a fake program on the PATH under the real name, a folder, and turns. */

import { writeFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Progress, Turn } from '@reveille/kit'
import { createTurn } from '@reveille/kit/fake-server'
import type { CommandConfiguration } from '../configuration.ts'
import command from '../index.ts'

export type Preset = NonNullable<CommandConfiguration['preset']>

export async function createFakeProgram(preset: Preset, more: CommandConfiguration = {}) {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-fake-program-')))
  const at = (...names: string[]) => path.join(folder, ...names)
  await mkdir(at('bin'))
  await mkdir(at('work'))
  const script = path.join(import.meta.dirname, `${preset}.mjs`)
  await writeFile(at('bin', preset), `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`)
  await chmod(at('bin', preset), 0o755)

  const env = { PATH: `${at('bin')}:/usr/bin:/bin`, FAKE_PROGRAM_FOLDER: folder, ...more.env }
  const config = { preset, cwd: at('work'), killGrace: '50ms', ...more, env }
  const { runner, close: stop } = await setUpRunner(config)
  return {
    runner,
    /** Sets what the program does from now on. */
    play: (mode: 'fail' | `fail ${string}` | 'hang' | 'linger' | '') => writeFileSync(at('mode'), mode),
    /** Deletes every conversation. */
    forget: () => rm(at('conversations'), { recursive: true }),
    /** Returns the ids of the program and of its child once both run. @throws if the turn ends before */
    async pids(turn: Promise<unknown>): Promise<readonly number[]> {
      let isOver = false
      turn.finally(() => {
        isOver = true
      })
      for (;;) {
        const text = await readFile(at('pids'), 'utf8').catch(() => '')
        if (text.endsWith('\n')) return text.trim().split(/\s+/).map(Number)
        if (isOver) throw new Error('The turn ended before its program had begun.')
        await wait(5)
      }
    },
    /** Closes the plugin. */
    stop,
    /** Closes the plugin and removes the folder. */
    async close() {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Sets the plugin up as a host does. */
export async function setUpRunner(config: CommandConfiguration) {
  const abort = new AbortController()
  const log = { info() {}, warn() {}, error() {} }
  const provided = await command.setup({ config, log, fetch, signal: abort.signal })
  const [runner] = provided.runners ?? []
  if (runner === undefined) throw new Error('the plugin brings a runner')
  async function close() {
    abort.abort()
    await provided.close?.()
  }
  return { runner, close }
}

export function turnOf(prompt: string, more: Partial<Turn> = {}): Turn {
  return createTurn({ sessionKey: 'hook:pull:7', prompt, ...more })
}

/** Returns a call that is never aborted, with the progress that it reports. */
export function openCall(signal: AbortSignal = new AbortController().signal) {
  const reported: Progress[] = []
  return { signal, reported, onProgress: (progress: Progress) => void reported.push(progress) }
}

/** True while a process is alive. A dead one may still exist until its parent collects it. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const known = await readdir('/proc').catch(() => [])
  if (known.length === 0) return true
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat !== '' && !/\) [ZX] /.test(stat)
}

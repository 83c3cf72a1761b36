import { existsSync, writeFileSync } from 'node:fs'
import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunnerFixture, runnerConformance } from '@reveille/kit/conformance'
import { setUpRunner } from './fake-programs/fake-program.ts'

const secret = 'sk-a-key-of-the-program'

/** A shell starts twenty times as fast as Node.js, and the suite waits only briefly. */
const program = `#!/bin/sh
case "$(cat mode)" in
  stall) sleep 1000 ;;
  midway) echo begun; touch begun; sleep 1000 ;;
  refused) echo "Key refused." >&2; exit 1 ;;
  fail) echo "The key $KEY is refused." >&2; exit 3 ;;
esac
exec cat
`

async function create(): Promise<RunnerFixture> {
  const cwd = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-command-')))
  const play = (mode: string) => writeFileSync(path.join(cwd, 'mode'), mode)
  play('answer')
  const file = path.join(cwd, 'program')
  writeFileSync(file, program, { mode: 0o700 })
  const { runner, close } = await setUpRunner({
    command: file,
    args: [
      ['--model', '{model}'],
      ['--thinking', '{thinking}'],
    ],
    session: 'ours',
    outage: ['^key refused'],
    env: { KEY: secret },
    cwd,
  })
  return {
    runner,
    remembers: true,
    startsProgram: true,
    stall: () => play('stall'),
    async stallMidway() {
      play('midway')
      while (!existsSync(path.join(cwd, 'begun'))) await wait(5)
    },
    fail: () => play('fail'),
    outages: {
      'key refused': () => play('refused'),
      'program missing': () => rm(file),
      'program not executable': () => chmod(file, 0o600),
      'folder that is a file': async () => {
        await rm(cwd, { recursive: true })
        await writeFile(cwd, '')
      },
    },
    ownFailures: { 'program fails': () => play('fail') },
    async close() {
      await close()
      await rm(cwd, { recursive: true })
    },
  }
}

if (process.platform === 'win32') {
  test('the command runner conforms', { skip: 'the program is a shell script' }, () => {})
} else {
  const plugin = new URL('./index.ts', import.meta.url)
  runnerConformance({ name: 'the command runner conforms', plugin, secrets: [secret], create })
}

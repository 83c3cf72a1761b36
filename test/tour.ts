/**
 * Follows a page to the end, as a reader does: writes the files that it shows, makes the edits that it asks for, runs its
 * commands beside a gateway in a process of its own, and compares what comes with what the page shows.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, delimiter, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify, stripVTControlCharacters } from 'node:util'
import type { Answer } from '../runtime/cli/io-fixture.ts'
import { until, writeInto } from './installation.ts'
import { type ReveilleProcess, spawnReveille } from './process/reveille-process.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')

/** False where a tour can be followed, else why it cannot. */
export const tourSkip =
  process.platform === 'win32' || !existsSync('/usr/bin/curl') ? 'needs sh and curl' : false

/** The folder in which a reader works, and the commands there. */
export interface Reader {
  readonly cwd: string
  /** Runs `reveille` with these words. */
  reveille(...words: readonly string[]): Promise<Answer>
  /** The module that Node.js runs for a gateway. Default: the bundle of the clone. */
  readonly entry?: string
  /** User that runs the commands. Default: the user of the test. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

/** Milliseconds that a loaded machine may take for one step. */
const slowMs = 30_000

interface Step {
  /** The sentences before the block. */
  readonly prose: string
  readonly language: string
  readonly text: string
}

function stepsOf(path: string): readonly Step[] {
  const page = readFileSync(join(root, path), 'utf8')
  const blocks = page.matchAll(/(.*?)^```(\w*)\n(.*?)^```$/gms)
  return [...blocks].map(([, prose = '', language = '', text = '']) => ({ prose, language, text }))
}

/** `maxCode` is the greatest exit code that its commands may have; a 2 says that a command was misunderstood. */
export async function followTour(t: TestContext, page: string, given: Reader, maxCode = 1): Promise<void> {
  const reader = createReader(t, given, maxCode)
  for (const { prose, language, text } of stepsOf(page)) {
    if (/\bCtrl-C\b/.test(prose)) await reader.stop()
    for (const [, from = '', to = ''] of prose.matchAll(/[Cc]hange\s+`([^`]+)`\s+to\s+`([^`]+)`/g))
      await reader.edit(/In\s+`([^`]+)`/i.exec(prose)?.[1], from, to)
    if (language === 'sh') await reader.type(text)
    else if (language !== '')
      await reader.save(text, /as `([^`]+)`/.exec(prose.split('\n\n').at(-2) ?? prose)?.[1])
    else if (/first\s+terminal/.test(prose)) await reader.seesInFirstTerminal(text)
    else await reader.sees(text)
  }
}

function createReader(t: TestContext, { cwd, reveille, entry, user }: Reader, maxCode: number) {
  const write = (name: string, content: string) => writeInto(cwd, name, content)
  /** The ids of this run, by those that the page shows. */
  const ids = new Map<string, string>()
  let exports = ''
  let gateway: ReveilleProcess | undefined
  let isWatching = true
  let address = ''
  let edited = ''
  let last = { command: '', output: '' }

  async function start(options: readonly string[]): Promise<void> {
    isWatching = !options.includes('--no-watch')
    if (!existsSync(join(cwd, 'reveille.yaml'))) {
      await reveille('init', '.')
      const file = join(cwd, 'reveille.yaml')
      // The lines are read as on a terminal.
      const settings = await readFile(file, 'utf8')
      await writeFile(file, settings.replace(/^gateway:$/m, '$&\n  log: { format: pretty }'))
    }
    // Other tests may have taken the debugger's usual port.
    const words = options.map((option) => (option === '--inspect' ? '--inspect=0' : option))
    const started = { cwd, ...(entry && { entry }), ...(user && { user }) }
    gateway = await spawnReveille(t, ['start', '--port', '0', ...words], started)
    const listening = await until(() => /listening +(\S+)/.exec(log())?.[1], 'the gateway to listen', slowMs)
    address = listening
  }

  function log(): string {
    return gateway === undefined ? '' : stripVTControlCharacters(gateway.both())
  }

  /** Makes a change, and waits until the gateway has taken or refused it. */
  async function change(file: string, make: () => Promise<unknown>): Promise<void> {
    edited = file
    const before = outcomesOf(log())
    await make()
    if (gateway === undefined || !isWatching || !(await isRead(file))) return
    await until(() => outcomesOf(log()) > before || undefined, `the gateway to notice ${file}`, slowMs)
  }

  /** A transform is read once a mapping names it. */
  async function isRead(file: string): Promise<boolean> {
    if (!file.startsWith('transforms/')) return /^(mappings\/|reveille\.yaml|\.env)/.test(file)
    const folder = join(cwd, 'mappings')
    const mappings = await Promise.all(
      (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
    )
    return mappings.some((text) => text.includes(`module: ${basename(file)}`))
  }

  async function execute(command: string): Promise<string> {
    const words = [...ids].reduce((text, [shown, actual]) => text.replaceAll(shown, actual), command)
    // The folder stands for `local` of a clone. Packages are not fetched in a test; test/transforms-page.test.ts has the compiler.
    if (/^(git clone |cd local$|npm install |npx tsc )/.test(words)) return ''
    const [, options] = /^npm start(?: -- ([^>]*))?(?: *> \S+ 2>&1 &)?$/.exec(words) ?? []
    if (words.startsWith('npm start')) {
      await start(options?.split(' ') ?? [])
      return ''
    }
    const [, own, target] = /^npx reveille(?: ([^>|]*))?(?:> (\S+))?$/.exec(words) ?? []
    if (own !== undefined) {
      const { code, out, err } = await reveille(...splitWords(own))
      assert.ok(code <= maxCode, `\`${words}\` exits with ${code}:\n${out}${err}`)
      if (target !== undefined) await write(target, out)
      return out + err
    }
    if (words.startsWith('export ')) exports += `${words}\n`
    const script = `${exports}${words.replaceAll('http://127.0.0.1:8787', address)}`
    const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
    const { stdout, stderr } = await run('sh', ['-c', script], { cwd, env: { PATH }, ...user })
    return stdout + stderr
  }

  return {
    async stop(): Promise<void> {
      gateway?.send('SIGINT')
      await gateway?.ended
      gateway = undefined
    },
    save(text: string, named: string | undefined): Promise<void> {
      const [, isMore, file = named] = /^(?:#|\/\/) (at the end of )?(\S+\.\w+)\n/.exec(text) ?? []
      assert.ok(file, `no file is named for:\n${text}`)
      return change(file, () => (isMore ? appendFile(join(cwd, file), `\n${text}`) : write(file, text)))
    },
    edit(file = edited, from: string, to: string): Promise<void> {
      const whole = join(cwd, file)
      return change(file, async () => {
        const text = await readFile(whole, 'utf8')
        assert.ok(text.includes(from), `${file} has no \`${from}\`:\n${text}`)
        await writeFile(
          whole,
          text.replace(from, () => to),
        )
      })
    },
    async type(text: string): Promise<void> {
      for (const command of text
        .replaceAll(/ *\\\n */g, ' ')
        .trim()
        .split('\n')) {
        const typed = command.replace(/ +#.*$/, '')
        last = { command: typed, output: await execute(typed) }
      }
    },
    async sees(shown: string): Promise<void> {
      // A record may be written a moment after its request was answered.
      const isReading = /^npx reveille (requests|runs|status|generations|issues)/.test(last.command)
      const looked = async () => {
        if (compare(shown, last.output, ids, 'together')) return true
        if (isReading) last = { ...last, output: await execute(last.command) }
        return isReading ? undefined : false
      }
      const isSeen = await until(looked, 'it', slowMs).catch(() => false)
      assert.ok(isSeen, `\`${last.command}\` does not show:\n${shown}\nbut:\n${last.output}`)
    },
    async seesInFirstTerminal(shown: string): Promise<void> {
      const isSeen = await until(() => compare(shown, log(), ids, 'apart') || undefined, 'it', slowMs).catch(
        () => false,
      )
      assert.ok(isSeen, `the gateway does not show:\n${shown}\nbut:\n${log()}`)
    },
  }
}

function outcomesOf(log: string): number {
  return [...log.matchAll(/^\d\d:\d\d:\d\d {2}(live|rejected|fixed) /gm)].length
}

/** Splits a command line at spaces outside of quotes. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
}

const idPattern = /\b[0-9a-f]{6}\b/g

/** Puts names in the place of what differs from one run to the next. */
function stable(line: string): string {
  return line
    .replaceAll(/\d\d:\d\d:\d\d/g, 'TIME')
    .replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY')
    .replaceAll(/\b[\d.]+ ?m?s\b/g, 'DURATION')
    .replaceAll(/\b[0-9a-f]{12}\b/g, 'DIGEST')
    .replaceAll(/(?<=outside-data id=")[\w-]+|(?<=^│ \[[\w. ]+ )[\w-]{8}(?=\]$)/g, 'FENCE')
    .replaceAll(idPattern, 'ID')
    .replaceAll(/ {2,}/g, '  ')
    .trimEnd()
}

/**
 * Says whether the lines that a page shows are there, in this order. A line `…` stands for any lines. `together`: nothing is between two lines
 * unless the page shows `…`. Notes the ids that replace those on the page.
 */
function compare(
  shown: string,
  actual: string,
  ids: Map<string, string>,
  how: 'together' | 'apart',
): boolean {
  const lines = actual.split('\n')
  const wanted = shown.trimEnd().split('\n')
  const found: [string, string][] = []
  let next = 0
  let isGap = true
  for (const line of wanted) {
    if (line === '…') {
      isGap = true
      continue
    }
    const fits = (one: string) => stable(one) === stable(line) && agree(line, one)
    const at = isGap || how === 'apart' ? lines.findIndex((one, index) => index >= next && fits(one)) : next
    if (at === -1 || !fits(lines[at] ?? '')) return false
    found.push(...idsOf(line).map((id, index): [string, string] => [id, idsOf(lines[at] ?? '')[index] ?? '']))
    next = at + 1
    isGap = false
  }
  for (const [id, its] of found) ids.set(id, its)
  return true

  /** An id that the page showed before stands for the same thing. */
  function agree(line: string, one: string): boolean {
    const there = idsOf(one)
    return idsOf(line).every((id, index) => (ids.get(id) ?? there[index]) === there[index])
  }
}

function idsOf(line: string): string[] {
  return line.match(idPattern) ?? []
}

/**
 * Saves files as editors and tools do, part by part and by detours, while requests arrive. No request may be decided by
 * a state that nobody saved: one in which a mapping is missing, cut or empty, or a policy, schema or transform is.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, copyFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { configuration, type Installation, install, until } from '../installation.ts'

const run = promisify(execFile)
const everyMs = 5
/** The probe skips a tick rather than to have more requests under way. */
const maxUnderWay = 8

/** The edited files, with their text in a version. Odd versions are longer, at the beginning and at the end. */
const files: Readonly<Record<'mappings' | 'configuration' | 'transform' | 'schema', Edited>> = {
  mappings: { name: 'mappings/live/desk.yaml', text: mappingFile },
  configuration: {
    name: 'reveille.yaml',
    text: (version) =>
      `${version % 2 ? '# Edited.\n# Twice.\n' : ''}${configuration.replace('hooks: {', 'hooks: { mappingsDir: ./mappings/live, ')}`.replace(
        /hooks: \{(.*)\}\n/,
        (_, keys: string) =>
          `hooks:\n${keys
            .split(', ')
            .map((key) => `  ${key.trim()}\n`)
            .join('')}  mappings:\n${mapping('own', version)}`,
      ),
  },
  transform: {
    name: 'transforms/sign.ts',
    text: (version) => `${version % 2 ? '// Signs.\n// Twice.\n' : ''}export default ({ base }) => ({
  message: \`\${base.message}\n\${signature()}\`,
})

function signature() {
  return 'signed ${version}${version % 2 ? ' longer' : ''}'
}
`,
  },
  schema: {
    name: 'mappings/live/desk.schema.yaml',
    text: (version) => `${version % 2 ? '# Edited.\n# Twice.\n' : ''}type: object
properties:
  text: { type: string, maxLength: ${1000 + version} }
required:
  - text
`,
  },
}

type Kind = keyof typeof files

interface Edited {
  readonly name: string
  text(version: number): string
}

function mapping(id: string, version: number, more = ''): string {
  return `    - id: ${id}
      match: { path: ${id} }
      name: name ${version}
      deliver: false
      timeoutSeconds: ${1000 + version}
${more}      message: |
        ${version % 2 ? 'Dear colleague,\n\n        ' : ''}version ${version} of ${id} begins
        with {{text}}, and
        version ${version} ends
`
}

function mappingFile(version: number): string {
  const head = version % 2 ? '# Edited.\n# Twice.\n' : ''
  const signed = '      schema: desk.schema.yaml\n      transform: { module: sign.ts }\n'
  return `${head}mappings:\n${mapping('first', version)}${mapping('signed', version, signed)}${mapping('last', version)}`
}

/** Saves `text` in the place of the file's text; `old` is that text. */
type Save = (file: string, text: string, old: string, pauses: () => number) => Promise<void>

/** `git` and the swapped link save folders, and so do not concern every kind of file. */
const editors: Readonly<Record<string, Save>> = {
  'in one write': (file, text) => writeFile(file, text),
  'by a rename': async (file, text) => {
    await writeFile(`${file}.tmp`, text)
    await rename(`${file}.tmp`, file)
  },
  'emptied, then in parts': async (file, text, _old, pauses) => {
    await writeFile(file, '')
    await inParts(file, text, pauses)
  },
  'in parts': async (file, text, _old, pauses) => inParts(file, text, pauses, true),
  'line by line': async (file, text, _old, pauses) => {
    const lines = text.split(/(?<=\n)/)
    const size = Math.ceil(lines.length / 6)
    for (let next = 0; next < lines.length; next += size) {
      const part = lines.slice(next, next + size).join('')
      await (next === 0 ? writeFile(file, part) : appendFile(file, part))
      await pause(pauses())
    }
  },
  'renamed away, then written': async (file, text, _old, pauses) => {
    await rename(file, `${file}~`)
    await pause(pauses())
    await writeFile(file, text)
    await rm(`${file}~`)
  },
  'deleted, then written in parts': async (file, text, _old, pauses) => {
    await rm(file)
    await pause(pauses())
    await inParts(file, text, pauses, true)
  },
  cp: async (file, text) => {
    await writeFile(`${file}.new~`, text)
    await run('cp', [`${file}.new~`, file])
  },
  'sed -i': async (file, text, old) => {
    // The whole text is exchanged after the first line of the old one, which is then deleted with all others.
    await writeFile(`${file}.new~`, text)
    await run('sed', ['-i', '-e', `1r ${file}.new~`, '-e', '1,$d', file])
    assert.notEqual(old, text)
  },
  ...Object.fromEntries(
    ['yes', 'no', 'auto'].map((copies): [string, Save] => [
      `vim with backupcopy=${copies}`,
      async (file, text) => {
        await writeFile(`${file}.new~`, text)
        const steps = [`set backupcopy=${copies} writebackup`, `silent %!cat ${file}.new~`, 'wq']
        await run('vim', ['-u', 'NONE', '-N', '-es', ...steps.flatMap((step) => ['-c', step]), file])
      },
    ]),
  ),
}

async function inParts(file: string, text: string, pauses: () => number, isFirst = false): Promise<void> {
  const size = Math.ceil(text.length / 4)
  for (let next = 0; next < text.length; next += size) {
    if (next > 0 || !isFirst) await pause(pauses())
    const part = text.slice(next, next + size)
    await (next === 0 && isFirst ? writeFile(file, part) : appendFile(file, part))
  }
}

/** Posts without pause, and compares what each request became with what was saved. */
function createProbe({ post, read }: Installation) {
  const wrong = new Set<string>()
  const signatures = new Set<string>()
  let last: Partial<Record<string, RunRecord>> = {}
  let underWay = 0
  let posted = 0
  let isStopped = false
  const ids = ['first', 'signed', 'last', 'own', 'unsigned']
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()

  async function ask(id: string): Promise<void> {
    // A body without the text that the schema requires is refused by every version of it.
    const answer = await post(
      `/hooks/${id === 'unsigned' ? 'signed' : id}`,
      id === 'unsigned' ? {} : { text: 'hello' },
    )
    if (id === 'unsigned') {
      if (answer.status !== 400) wrong.add(`a body that the schema refuses: ${answer.status} ${answer.text}`)
      return
    }
    if (answer.status !== 202) wrong.add(`${id}: ${answer.status} ${answer.text}`)
    else check(id, await read<RunRecord>(`/api/runs/${answer.body['runId']}`))
  }

  function check(id: string, record: RunRecord): void {
    const { message, name, timeoutSeconds, mapping } = record
    const [, version, signature] =
      /^(?:Dear colleague,\n\n)?version (\d+) of \w+ begins\nwith [\s\S]*hello[\s\S]*, and\nversion \1 ends\n?(?:\n?(signed \d+(?: longer)?))?$/.exec(
        message,
      ) ?? ['', 'cut']
    if (signature !== undefined) signatures.add(signature)
    const isWhole =
      `${mapping} ${name} ${timeoutSeconds}` === `${id} name ${version} ${1000 + Number(version)}`
    if (!isWhole || (id === 'signed') !== (signature !== undefined))
      wrong.add(JSON.stringify({ id, message, name, timeoutSeconds }))
    last = { ...last, [id]: record }
  }

  async function tick(): Promise<void> {
    for (let number = 0; !isStopped; number++) {
      await pause(everyMs)
      if (underWay >= maxUnderWay) continue
      underWay++
      posted++
      void ask(ids[number % ids.length] ?? '')
        .catch((error: unknown) => wrong.add(String(error)))
        .finally(() => underWay--)
    }
    await until(() => (underWay === 0 ? true : undefined), 'the last answers')
    end()
  }
  void tick()

  return {
    wrong,
    posted: () => posted,
    /** The outcome of the last request to a mapping. */
    last: (id: string) => last[id],
    async stop() {
      isStopped = true
      await ended
    },
  }
}

/** Which version of a kind of file decided last; of the schema nothing shows. */
function isLive(kind: Kind, version: number, probe: ReturnType<typeof createProbe>): boolean {
  if (kind === 'mappings')
    return ['first', 'signed', 'last'].every((id) => probe.last(id)?.name === `name ${version}`)
  if (kind === 'configuration') return probe.last('own')?.name === `name ${version}`
  return probe.last('signed')?.message.includes(`signed ${version}`) === true
}

/** Numbers between 20 and 400, the same for one seed. Milliseconds. */
function pausesOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    const [shortest, longest] = [20, 400]
    return shortest + (state % (longest - shortest + 1))
  }
}

const missing = new Set<string>()
for (const program of ['vim', 'git', 'sed', 'cp']) {
  await run(program, ['--version']).catch(() => missing.add(program))
}

async function startSaving(t: TestContext) {
  const versions: Record<Kind, number> = { mappings: 2, configuration: 2, transform: 2, schema: 2 }
  const texts = Object.values(files).map(({ name, text }) => [name, text(2)])
  const installed = await install(t, Object.fromEntries(texts), { watch: true })
  const probe = createProbe(installed)
  atEnd(t, () => probe.stop())
  const at = (name: string) => join(installed.folder, name)
  const text = (kind: Kind, version: number) =>
    files[kind].text(version).replaceAll('{folder}', installed.folder)
  return {
    ...installed,
    probe,
    at,
    /** Saves the next version of some kinds of files in one way, and waits until it is live. */
    async save(kinds: readonly Kind[], how: (texts: ReadonlyMap<string, string>) => Promise<void>) {
      const generation = installed.gateway.current().generation
      const next = new Map(kinds.map((kind) => [at(files[kind].name), text(kind, ++versions[kind])]))
      await how(next)
      await until(
        () => {
          if (kinds.includes('schema') && installed.gateway.current().generation === generation)
            return undefined
          const shown = kinds.filter((kind) => kind !== 'schema')
          return shown.every((kind) => isLive(kind, versions[kind], probe)) || undefined
        },
        `version ${JSON.stringify(versions)} after ${[...probe.wrong].join('\n')}`,
      )
    },
    /** `probe.wrong` is reported with how it was saved. */
    expectWhole: (what: string) => assert.deepEqual([...probe.wrong], [], what),
    current: (kind: Kind) => text(kind, versions[kind]),
  }
}

/** `only` are the ways of saving for each kind of file; by default all. */
export function testSaving(rounds: number, only?: Readonly<Partial<Record<Kind, readonly string[]>>>): void {
  test(`requests are decided by whole files alone, however these are saved, in ${rounds} rounds`, async (t) => {
    const saving = await startSaving(t)
    await until(
      () => (isLive('mappings', 2, saving.probe) && isLive('configuration', 2, saving.probe)) || undefined,
      'the first answers',
    )
    let edits = 0
    for (let round = 0; round < rounds; round++) {
      for (const kind of Object.keys(files) as Kind[]) {
        for (const [editor, save] of Object.entries(editors)) {
          if (only && !only[kind]?.includes(editor)) continue
          if ([...missing].some((program) => editor.startsWith(program))) continue
          const pauses = pausesOf(1 + edits++)
          const old = saving.current(kind)
          await saving.save([kind], async (texts) => {
            for (const [file, text] of texts) await save(file, text, old, pauses)
          })
          saving.expectWhole(`${kind} ${editor}`)
        }
      }
    }
    await saving.probe.stop()
    saving.expectWhole('the last answers')
    t.diagnostic(
      `${edits} edits under ${saving.probe.posted()} requests; not installed: ${[...missing].join(', ') || 'none'}`,
    )
  })

  test(`requests are decided by whole files alone while git checks out and links are swapped, in ${rounds} rounds`, {
    skip: missing.has('git') && 'git is not installed',
  }, async (t) => {
    const saving = await startSaving(t)
    const kinds: readonly Kind[] = ['mappings', 'transform', 'schema']
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { cwd: saving.folder })
    await git('init', '-q', '-b', 'start')
    await git('add', 'mappings', 'transforms')
    await git('commit', '-qm', 'start')
    await until(() => isLive('mappings', 2, saving.probe) || undefined, 'the first answers')
    for (let round = 0; round < rounds; round++) {
      await saving.save(kinds, async (texts) => {
        // The next version is committed beside the folder that is served.
        const tree = join(saving.folder, '.other')
        await git('worktree', 'add', '-q', '-b', `next-${round}`, tree)
        for (const [file, text] of texts) await writeFile(file.replace(saving.folder, tree), text)
        await run('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '-qam', 'next'], {
          cwd: tree,
        })
        await git('worktree', 'remove', '--force', tree)
        await git('checkout', '-q', `next-${round}`)
      })
      saving.expectWhole('git checkout')
    }

    // From here on, the folder of mapping files is a link to a version, as Kubernetes mounts a ConfigMap.
    const live = saving.at('mappings/live')
    for (let round = 0; round < rounds * 2; round++) {
      await saving.save(['mappings'], async (texts) => {
        const folder = saving.at(`mappings/.version-${round}`)
        await mkdir(folder)
        await copyFile(join(live, 'desk.schema.yaml'), join(folder, 'desk.schema.yaml'))
        for (const [, text] of texts) await writeFile(join(folder, 'desk.yaml'), text)
        await symlink(folder, `${live}.next`)
        if (round === 0) await rename(live, join(dirname(live), '.before'))
        await rename(`${live}.next`, live)
      })
      saving.expectWhole('a swapped link')
    }
    await saving.probe.stop()
    t.diagnostic(`${saving.probe.posted()} requests`)
  })
}

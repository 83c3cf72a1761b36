import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { startArguments } from './start.js'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')
const bootstrap = [
  'tools/run.js',
  'tools/install.js',
  'runtime/bin/parent.js',
  'runtime/bin/find-node.js',
  'runtime/bin/relay.js',
]
const posix = { skip: process.platform === 'win32' && 'the fake npm is a shell script' }

/** Records its calls, and leaves the list of packages that npm leaves. */
const fakeNpm = `const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
appendFileSync('npm-calls', args.join(' ') + '\\n')
const { packages } = JSON.parse(readFileSync('package-lock.json'))
for (const [place, { dev, os }] of Object.entries(packages)) {
  if ((dev && args.includes('--omit=dev')) || os?.includes('none')) delete packages[place]
}
mkdirSync('node_modules', { recursive: true })
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }))
`

/** Creates a small clone: the real bootstrap, jobs that print their arguments, and an npm that records its calls. */
async function createClone(t: TestContext, options: { npm?: string } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-clone-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const at = (...names: string[]) => path.join(folder, ...names)
  for (const file of bootstrap) await cp(path.join(root, file), at(file))
  await writeFile(at('package.json'), '{"type":"module"}')
  await writeFile(
    at('tools/start.js'),
    'export async function start(_, args) { console.log("started", ...args) }',
  )
  await writeFile(at('tools/jobs.ts'), 'export async function test() { console.log("tested") }')
  const lock = async (version: string) => {
    const integrity = `sha512-${version}`
    const packages = {
      '': {},
      'node_modules/needed': { version, integrity },
      'node_modules/tool': { version, integrity, dev: true },
      'node_modules/for-another-platform': { version, integrity, optional: true, os: ['none'] },
    }
    await writeFile(at('package-lock.json'), JSON.stringify({ packages }))
  }
  await lock('1.0.0')
  await mkdir(at('bin'))
  await writeFile(at('fake-npm.cjs'), fakeNpm)
  const npm = options.npm ?? 'exec node fake-npm.cjs "$@"'
  await writeFile(at('bin/npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 })

  const { npm_execpath: _npm, NODE_TEST_CONTEXT: _context, ...env } = process.env
  env['PATH'] = [at('bin'), path.dirname(process.execPath), env['PATH']].join(path.delimiter)
  return {
    folder,
    at,
    env,
    lock,
    run: (...args: string[]) => run(process.execPath, [at('tools/run.js'), ...args], { env }),
    /** Without the options that every call has. */
    calls: async () => {
      const calls = await readFile(at('npm-calls'), 'utf8').catch(() => '')
      return calls.split('\n').flatMap((call) => /^(.*) --include=optional /.exec(call)?.[1] ?? [])
    },
  }
}

test(
  'npm start after a clone installs what a gateway needs, with one line about it, and then starts it',
  posix,
  async (t) => {
    const clone = await createClone(t)
    const { stdout, stderr } = await clone.run('start', '--config', 'a b.yaml')
    assert.equal(stdout, 'started --config a b.yaml\n')
    assert.match(stderr, /^Installing the packages that a gateway needs .* seconds …\n$/)
    assert.deepEqual(await clone.calls(), ['ci --omit=dev'])
  },
)

test('any other command after a clone installs everything, and npm start then nothing', posix, async (t) => {
  const clone = await createClone(t)
  const { stdout, stderr } = await clone.run('test')
  assert.equal(stdout, 'tested\n')
  assert.match(stderr, /^Installing all packages .* seconds …\n$/)
  assert.equal((await clone.run('start')).stderr, '')
  assert.deepEqual(await clone.calls(), ['ci --include=dev'])
})

test('any other command after npm start adds the rest, once', posix, async (t) => {
  const clone = await createClone(t)
  await clone.run('start')
  const { stdout, stderr } = await clone.run('test')
  assert.equal(stdout, 'tested\n')
  assert.match(stderr, /^Installing all packages .* seconds …\n$/)
  assert.equal((await clone.run('test')).stderr, '')
  assert.equal((await clone.run('start')).stderr, '')
  assert.deepEqual(await clone.calls(), ['ci --omit=dev', 'install --no-save --include=dev'])
})

test('arguments of `npm start` are added to its own, unless a configuration is named', () => {
  const local = 'local/reveille.yaml'
  const built = ['--init', '--config', local]
  const cases: [readonly string[], Record<string, string>, readonly string[]][] = [
    [[], {}, built],
    [['--port', '21000'], {}, [...built, '--port', '21000']],
    [['--no-watch', '--init'], {}, [...built, '--no-watch']],
    [['--config', 'other.yaml'], {}, ['--config', 'other.yaml']],
    [['--config=other.yaml', '--poll'], {}, ['--config=other.yaml', '--poll']],
    [['--poll'], { REVEILLE_CONFIG: 'other.yaml' }, ['--init', '--poll']],
  ]
  for (const [args, env, expected] of cases) assert.deepEqual(startArguments(args, local, env), expected)
})

test('the second command installs nothing and says nothing', posix, async (t) => {
  const clone = await createClone(t)
  await clone.run('start')
  const { stderr } = await clone.run('start')
  assert.equal(stderr, '')
  assert.equal((await clone.calls()).length, 1)
})

test(
  'a lock file with other content changes what is installed, whatever the file times say',
  posix,
  async (t) => {
    const clone = await createClone(t)
    await clone.run('start')
    await clone.lock('1.0.1')
    const { stderr } = await clone.run('start')
    assert.match(stderr, /^Installing the packages that a gateway needs .* seconds …\n$/)
    assert.deepEqual(await clone.calls(), ['ci --omit=dev', 'install --no-save --omit=dev'])
  },
)

test('npm start with another lock file removes nothing that tests need', posix, async (t) => {
  const clone = await createClone(t)
  await clone.run('test')
  await clone.lock('1.0.1')
  await clone.run('start')
  assert.deepEqual(await clone.calls(), ['ci --include=dev', 'install --no-save --include=dev'])
})

test('a command does not wait for an install whose process has ended', posix, async (t) => {
  const clone = await createClone(t)
  await clone.run('start')
  const { pid } = spawnSync(process.execPath, ['--version'])
  await writeFile(clone.at('build/install.pid'), String(pid))
  assert.equal((await clone.run('start')).stdout, 'started\n')
  assert.deepEqual(await clone.calls(), ['ci --omit=dev'])
})

test('after an npm that was killed the next command installs from the start', posix, async (t) => {
  const npm = '[ "$1" = install ] && kill -9 $$; exec node fake-npm.cjs "$@"'
  const clone = await createClone(t, { npm })
  await clone.run('start')
  await assert.rejects(clone.run('test'), { code: 1, stdout: '' })
  assert.equal((await clone.run('test')).stdout, 'tested\n')
  assert.deepEqual(await clone.calls(), ['ci --omit=dev', 'ci --include=dev'])
})

test(
  'a command that is ended while npm installs waits for npm to end, and leaves no lock file of its own',
  posix,
  async (t) => {
    const npm = `[ -e first ] && exec node fake-npm.cjs "$@"; trap 'echo >taken-back; exit 1' TERM; touch first; kill -TERM $PPID; while :; do :; done`
    const clone = await createClone(t, { npm })
    await assert.rejects(clone.run('start'), { signal: 'SIGTERM' })
    assert.ok(existsSync(clone.at('taken-back')))
    assert.deepEqual(await clone.calls(), [])
    assert.equal((await clone.run('start')).stdout, 'started\n')
    assert.deepEqual(await clone.calls(), ['ci --omit=dev'])
  },
)

test(
  'a Node.js is installed, in a folder of its own, only on a machine whose own is too old',
  posix,
  async (t) => {
    const { folder, at, env } = await createClone(t)
    await cp(path.join(root, 'tools/node'), at('tools/node'), { recursive: true })
    await rm(at('tools/node/node_modules'), { recursive: true, force: true })
    await cp(at('fake-npm.cjs'), at('tools/node/fake-npm.cjs'))
    const calls = async () => {
      const text = await readFile(at('tools/node/npm-calls'), 'utf8').catch(() => '')
      return text.split('\n').filter(Boolean).length
    }
    const install = async (needsNode: boolean) => {
      const script = `import { ensureInstalled } from ${JSON.stringify(at('tools/install.js'))}
      await ensureInstalled(${JSON.stringify(folder)}, { everything: false, needsNode: ${needsNode} })`
      await run(process.execPath, ['--input-type=module', '--eval', script], { env })
      return calls()
    }
    assert.deepEqual([await install(false), await install(true), await install(true)], [0, 1, 1])
  },
)

test('two commands side by side after a clone install once', posix, async (t) => {
  const clone = await createClone(t)
  const both = await Promise.all([clone.run('start'), clone.run('start')])
  assert.deepEqual(
    both.map(({ stdout }) => stdout),
    ['started\n', 'started\n'],
  )
  assert.equal((await clone.calls()).length, 1)
})

test('what npm says about its failure is shown, and the job is not run', posix, async (t) => {
  const clone = await createClone(t, { npm: 'echo "npm error the disk is full" >&2; exit 3' })
  await assert.rejects(clone.run('start'), (error: { code: number; stdout: string; stderr: string }) => {
    assert.equal(error.code, 1)
    assert.equal(error.stdout, '')
    assert.match(error.stderr, /npm error the disk is full\nnpm ci failed/)
    return true
  })
})

test('a job that does not exist is bad usage and installs nothing', posix, async (t) => {
  const clone = await createClone(t)
  await assert.rejects(clone.run('strat'), (error: { code: number; stderr: string }) => {
    assert.equal(error.code, 2)
    assert.match(error.stderr, /start \| dev \| test/)
    return true
  })
  assert.deepEqual(await clone.calls(), [])
})

test('a job that npm started stops when npm is gone, although no signal reaches it', posix, async (t) => {
  const clone = await createClone(t)
  const job = `export async function start() {
    process.on('SIGTERM', () => { console.log('drained'); process.exit(0) })
    setInterval(() => {}, 1000)
    console.log('ready')
  }`
  await writeFile(clone.at('tools/start.js'), job)
  // Two commands, so that no shell replaces itself by the last one.
  const script = `"${process.execPath}" "${clone.at('tools/run.js')}" start; true`
  const shell = spawn('sh', ['-c', script], {
    env: { ...clone.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]()
  assert.equal((await lines.next()).value, 'ready')
  shell.kill('SIGTERM')
  assert.equal((await lines.next()).value, 'drained')
})

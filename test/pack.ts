/** Tests what holds of the published packages: packed, brought to an empty folder, and used as a user would. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { packWorkspaces } from '../tools/pack.ts'
import { createGatewayProcess, freePort } from './durability/gateway-process.ts'
import { type Tarball, unpackAll } from './packed-installation.ts'
import { type Installed, testWalks, walkOptions, walks } from './walk.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')

/** `node` is the one that runs this test, as for a user who has installed it. */
export const env = {
  ...process.env,
  PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
}

/**
 * Puts these packages and their dependencies into the folder's `node_modules`. @returns why that is impossible, else
 * nothing
 */
export type Installer = (
  folder: string,
  names: readonly string[],
  packages: readonly Tarball[],
) => Promise<string | undefined>

/** `short` names the walks of a run that leaves the others, and what takes long, to the soak. */
export function testPackages(install: Installer, short?: readonly string[]): void {
  let folder = ''
  let packages: readonly Tarball[] = []
  let installing: Promise<string | undefined> | undefined

  before(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-pack-')))
    const packed = await packWorkspaces(root, path.join(folder, 'packages'))
    packages = await unpackAll(packed, path.join(folder, 'unpacked'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('the tarballs contain what was staged: JavaScript and declarations, no TypeScript and no test', async () => {
    assert.ok(packages.some(({ name }) => name === 'reveille'))
    for (const { name, unpacked } of packages) {
      const packed = await filesIn(unpacked)
      assert.deepEqual(packed, await filesIn(path.join(folder, 'packages', path.basename(name))), name)
      assert.ok(packed.includes('LICENSE'), `${name} has a licence`)
      const isData = name === '@reveille/mappings'
      const besidesPresets = packed.filter((each) => !each.endsWith('.yaml'))
      if (isData) assert.deepEqual(besidesPresets, ['LICENSE', 'README.md', 'package.json'])
      else assert.ok(packed.includes('index.js') && packed.includes('index.d.ts'), `${name} has an entry`)

      const sources = packed.filter((each) => /\.[cm]?tsx?$/.test(each) && !each.endsWith('.d.ts'))
      assert.deepEqual(sources, [], `${name} holds TypeScript`)
      // `run-tests.js` ships, because the product runs the `tests:` of mapping files.
      const forTests = /\.test\.|(^|\/)tests?\/|(^|[/.-])(fixtures?|bed|bench|broken|contract|soak)[/.-]/
      assert.deepEqual(
        packed.filter((each) => forTests.test(each)),
        [],
        `${name} holds what only tests use`,
      )
    }
  })

  test('a package imports only its own files and its dependencies', async () => {
    for (const { name, unpacked } of packages) {
      const { dependencies = {} } = JSON.parse(await readFile(path.join(unpacked, 'package.json'), 'utf8'))
      const modules = (await filesIn(unpacked)).filter((each) => each.endsWith('.js'))
      const all = modules.map((each, index) => `export * as m${index} from './${each}'`).join('\n')
      // This fails if a file is missing.
      const { metafile } = await build({
        absWorkingDir: unpacked,
        stdin: { contents: all, resolveDir: unpacked },
        bundle: true,
        write: false,
        metafile: true,
        platform: 'node',
        format: 'esm',
        packages: 'external',
        logLevel: 'silent',
      })
      for (const each of modules) assert.ok(each in metafile.inputs, `${each} was read`)
      const outsiders = Object.entries(metafile.inputs).flatMap(([input, { imports }]) => [
        ...(input.startsWith('..') ? [input] : []),
        ...imports
          .filter(
            ({ path: imported, external }) => external && !isAllowed(imported, Object.keys(dependencies)),
          )
          .map(({ path: imported }) => `${input} imports ${imported}`),
      ])
      assert.deepEqual(outsiders, [], name)
    }
  })

  test('installed in an empty folder, the command, the console, the presets, the schemas for editors and the pages are found', async (t) => {
    const home = await homeOf(t)
    if (home === undefined) return
    const runtime = path.join(home, 'node_modules', 'reveille')
    const { bin, version } = JSON.parse(await readFile(path.join(runtime, 'package.json'), 'utf8'))
    const reveille = path.join(runtime, bin.reveille)
    const cwd = await mkdtemp(path.join(home, 'presets-'))
    const command = (...args: string[]) => run(process.execPath, [reveille, ...args], { cwd, env })
    assert.equal((await command('--version')).stdout, `${version}\n`)
    await command('init')
    const port = await freePort()
    const start = [reveille, 'start', '--port', String(port)]
    const gateway = await createGatewayProcess({ command: start, port, cwd })
    t.after(() => gateway.kill('SIGKILL'))
    await gateway.start()
    const page = await (await fetch(`${gateway.url}/console`)).text()
    const assets = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
    assert.equal(assets.length, 3)
    for (const address of assets) assert.equal((await fetch(gateway.url + address)).status, 200, address)
    assert.equal((await gateway.kill('SIGTERM')).code, 0, gateway.output())

    await rm(path.join(cwd, 'mappings'), { recursive: true })
    await writeFile(path.join(cwd, 'reveille.yaml'), 'hooks: { presets: [gitlab] }\n')
    await command('init', 'mapping', 'github')
    assert.equal(JSON.parse((await command('test', '--json')).stdout).ok, true)
    for (const which of ['configuration', 'mappings'])
      assert.match(JSON.parse((await command('schema', which)).stdout).title, /Reveille/)
    assert.match((await command('docs', 'mappings')).stdout, /^# Mappings\n/)
    assert.match((await command('docs', 'skill')).stdout, /^name: reveille$/m)
  })

  const installed = (home: string): Installed => ({
    command: path.join(home, 'node_modules', 'reveille', 'bin', 'reveille.js'),
    add: async (place, names) => {
      const unreachable = names.length === 0 ? undefined : await install(place, names, packages)
      if (unreachable !== undefined) throw new Error(unreachable)
    },
  })

  testWalks(
    'packages',
    async (t) => {
      const home = await homeOf(t)
      return home === undefined ? undefined : installed(home)
    },
    (walk) => short?.includes(walk) ?? true,
  )

  test('a walk fails where the packages miss one file that it needs', walkOptions, async (t) => {
    const home = await homeOf(t)
    if (home === undefined) return
    for (const [file, name] of neededFiles) {
      const [place, away] = [path.join(home, 'node_modules', file), path.join(home, 'away')]
      await rename(place, away)
      try {
        await assert.rejects(async () => walks[name](t, installed(home)), `${file} is not missed`)
      } finally {
        await rename(away, place)
      }
    }
  })

  test('the declarations show a strict program its mistakes, and no others', async (t) => {
    const home = await homeOf(t)
    if (home === undefined) return
    await writeFile(
      path.join(home, 'program.ts'),
      `import { createGateway, type Gateway } from 'reveille'
import { loadConfiguration } from '@reveille/engine'
import { definePlugin, PluginError } from '@reveille/kit'
import echo from '@reveille/plugin-echo'
export const gateway: Promise<Gateway> = createGateway({ configFile: 'reveille.yaml' })
export const plugin = definePlugin({ name: 'mine', setup: echo.setup })
export const error: Error = new PluginError('It is gone.', { code: 'gone', retryable: false })
// @ts-expect-error: it is a text
createGateway({ configFile: 8787 })
// @ts-expect-error: it takes arguments
loadConfiguration()
// @ts-expect-error: it has a setup
definePlugin({ name: 'mine' })
`,
    )
    const options = {
      strict: true,
      noEmit: true,
      target: 'es2024',
      module: 'nodenext',
      types: ['node'],
      // Checking our declarations means checking those of all libraries, which takes ten times as long.
      skipLibCheck: short !== undefined,
      typeRoots: [path.join(root, 'node_modules', '@types')],
    }
    const project = path.join(home, 'tsconfig.json')
    await writeFile(project, JSON.stringify({ compilerOptions: options, files: ['program.ts'] }))
    const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const { stdout } = await run(process.execPath, [compiler, '-p', project, '--singleThreaded'], {
      cwd: home,
    }).catch((error: { stdout: string }) => error)
    // Mistakes in the declarations of other packages do not count.
    const ours = stdout.split('\n').filter((line) => /^program\.ts|@reveille/.test(line))
    assert.deepEqual(ours, [])
  })

  /** Installs once for all tests. @returns undefined if the test is skipped */
  async function homeOf(t: TestContext): Promise<string | undefined> {
    const home = path.join(folder, 'home')
    installing ??= begin(home)
    const unreachable = await installing
    if (unreachable === undefined) return home
    t.skip(`what the packages depend on is beyond reach: ${unreachable}`)
    return undefined
  }

  async function begin(home: string): Promise<string | undefined> {
    await mkdir(home)
    await writeFile(path.join(home, 'package.json'), '{ "private": true }')
    return install(home, ['reveille'], packages)
  }
}

/** A file of each kind that nothing imports by its name, with a walk that needs it. */
const neededFiles: readonly (readonly [string, keyof typeof walks])[] = [
  [
    'reveille/bundle/bundler-thread.js',
    'a transform has a package, JSON, `with` and a secret, and is edited live',
  ],
  [
    '@reveille/engine/transform/define.js',
    'a transform has a package, JSON, `with` and a secret, and is edited live',
  ],
  [
    'reveille/scaffold/plugin/channel/config.schema.json.txt',
    'a channel passes the conformance suite, and delivers for a TypeScript plugin that is edited live',
  ],
]

function isAllowed(imported: string, dependencies: readonly string[]): boolean {
  return (
    isBuiltin(imported) || dependencies.some((name) => imported === name || imported.startsWith(`${name}/`))
  )
}

/** The files of a folder, by their paths in it, in order. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))).sort()
}

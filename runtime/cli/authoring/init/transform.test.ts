import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createCommandLine, testTranscript } from '../../io-fixture.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '../../../..')
const files = { 'reveille.yaml': '{}\n' }

/** Not the variables by which a test runner would take the new process for a part of itself. */
const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] }

test('in a folder without any installation the written transform passes its test unchanged', async (t) => {
  const { cwd, ...line } = await createCommandLine(t, files)
  const { code, out } = await line.run('init', 'transform', 'push-digest')
  assert.equal(code, 0)
  assert.match(out, /^wrote transforms\/push-digest\.ts\nwrote transforms\/push-digest\.test\.ts\n/)
  assert.match(out, /^ {4}transform: { module: push-digest\.ts }$/m)
  const unitTest = 'transforms/push-digest.test.ts'
  // Not by `node --test`, since the node on the path may be older than the one that runs Reveille.
  assert.match(out, /^One alone: +reveille test transforms\/push-digest\.test\.ts$/m)
  const alone = await line.run('test', unitTest)
  assert.deepEqual([alone.code, /^. pass (\d+)$/m.exec(alone.out)?.[1]], [0, '2'], alone.out + alone.err)
  const { stdout } = await run(process.execPath, ['--test', unitTest], { cwd, env })
  assert.match(stdout, /^. pass 2$/m)
  assert.match(stdout, /^. fail 0$/m)
})

test('an editor knows the types: the scaffold is free of errors, and a mistake in it is one', async (t) => {
  const { cwd, ...line } = await createCommandLine(t, files)
  await line.run('init', 'transform', 'review')
  // As `npm install @types/node` would: the tests of authors import what Node has.
  await mkdir(path.join(cwd, 'node_modules', '@types'), { recursive: true })
  const types = path.join('node_modules', '@types', 'node')
  await symlink(path.join(root, types), path.join(cwd, types), 'junction')
  const check = () =>
    run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', 'transforms'], { cwd })
  assert.equal((await check()).stdout, '')

  const module = path.join(cwd, 'transforms', 'review.ts')
  await writeFile(module, (await readFile(module, 'utf8')).replace(/^ {4}message/m, '    mesage'))
  await assert.rejects(check(), {
    stdout: /^transforms\/review\.ts\(\d+,\d+\): error .*NoSuchField<"mesage">/m,
  })
})

for (const [name, others, module, test_] of [
  [
    'where `npm init` has made CommonJS of everything, transforms are ES modules by a package.json of their own',
    {},
    'review.ts',
    'review.test.ts',
  ],
  [
    'beside modules that are CommonJS for Node, a transform gets the ending of ES modules',
    { 'transforms/old.js': 'module.exports = () => null\n' },
    'review.mts',
    'review.test.mts',
  ],
] as const)
  test(name, async (t) => {
    const commonJs = { ...files, 'package.json': '{ "type": "commonjs" }', ...others }
    const { cwd, play } = await createCommandLine(t, commonJs)
    const own = module === 'review.ts' ? 'wrote transforms/package.json\n' : ''
    await play(`
$ init transform review
${own}    transform: { module: ${module} }
$ init transform review
transforms/${module} is there…
`)
    const { stdout } = await run(process.execPath, ['--test', `transforms/${test_}`], { cwd, env })
    assert.match(stdout, /^. pass 2$/m)
  })

test('nothing is written over a transform; a test, a launch.json for a debugger and types that are there are kept', async (t) => {
  const { cwd, run, write } = await createCommandLine(t, {
    ...files,
    'transforms/review.test.ts': 'mine',
    'transforms/tsconfig.json': '{}',
  })
  const read = (name: string) => readFile(path.join(cwd, name), 'utf8')
  const launch = path.join('.vscode', 'launch.json')
  const { written } = JSON.parse((await run('init', 'transform', 'review', '--json')).out)
  assert.deepEqual(written, [path.join('transforms', 'review.ts'), launch])
  assert.equal(JSON.parse(await read(launch)).configurations[0].port, 9229)

  await write('transforms/review.ts', 'mine too')
  await write(launch, 'mine')
  const out = 'transforms/review.ts is there; it was left as it is.\n'
  assert.deepEqual(await run('init', 'transform', 'review'), { code: 0, out, err: '' })
  await run('init', 'transform', 'other')
  const kept = ['transforms/review.ts', 'transforms/review.test.ts', 'transforms/tsconfig.json', launch]
  assert.deepEqual(await Promise.all(kept.map(read)), ['mine too', 'mine', '{}', 'mine'])
})

test('a link to the types that leads nowhere is replaced, and links are kept out of the repository', async (t) => {
  const { cwd, run, write } = await createCommandLine(t, { ...files, 'transforms/review.ts': 'mine' })
  await write('transforms/node_modules/@reveille/.keep', '')
  const link = path.join('transforms', 'node_modules', '@reveille', 'engine')
  await symlink(path.join(cwd, 'gone'), path.join(cwd, link), 'junction')
  const { out } = await run('init', 'transform', 'review', '--json')
  assert.deepEqual(JSON.parse(out).linked, link)
  assert.equal(await realpath(path.join(cwd, link)), path.join(root, 'engine'))
  assert.equal(await readFile(path.join(cwd, 'transforms/node_modules/.gitignore'), 'utf8'), '*\n')
  assert.equal(JSON.parse((await run('init', 'transform', 'review', '--json')).out).linked, undefined)
})

test('below an installation nothing is linked, since the installed package is found', async (t) => {
  const parent = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-installed-')))
  t.after(() => rm(parent, { recursive: true, force: true }))
  const { run } = await createCommandLine(t, {}, { cwd: parent })
  for (const name of ['node_modules/@reveille/engine/package.json', 'local/reveille.yaml']) {
    await mkdir(path.join(parent, path.dirname(name)), { recursive: true })
    await writeFile(path.join(parent, name), '{}\n')
  }
  await run('init', 'transform', 'review')
  assert.deepEqual(await readdir(path.join(parent, 'local/transforms')), [
    'package.json',
    'review.test.ts',
    'review.ts',
    'tsconfig.json',
  ])
})

testTranscript(
  {},
  `
# a transform goes where the configuration looks for transforms: here, in local, or in the folder or file named
+ local/reveille.yaml: hooks: { transformsDir: ../code }
+ other/reveille.yaml: hooks: { acton: 1 }
+ a/prod.yaml: hooks: { transformsDir: ./modules }
$ init transform one
wrote code/one.ts
$ init transform one other
wrote other/transforms/one.ts
$ init transform one --config a/prod.yaml
wrote a/modules/one.ts
…reveille test --config a/prod.yaml
2 $ init transform one --config c.yaml
! There is no c.yaml.

# a bad name, a missing one and a folder without a configuration are bad usage
2 $ init transform -- ../review
! …is not a valid name for a transform: use at most 64 letters, digits and hyphens…
2 $ init transform -- 'a b'
! …is not a valid name…
2 $ init transform -- a_b
! …is not a valid name…
2 $ init transform -- ''
! …is not a valid name…
2 $ init transform -- -
! …is not a valid name…
2 $ init transform -- ${'a'.repeat(65)}
! …is not a valid name…
2 $ init transform review.ts
! …Leave the ending out…
2 $ init transform
! …missing required argument 'name'…
2 $ init transform review
! …no reveille.yaml in this folder, nor in local.
! Name one …write a first one: reveille init
`,
)

test('the printed lines make a mapping whose test passes and which lint finds clean', async (t) => {
  const { run, write } = await createCommandLine(t, {
    'reveille.yaml': 'hooks: { enabled: true, token: 4fK29sLq0ZpVx81mWnB7cRtY }\n',
  })
  const { out } = await run('init', 'transform', 'review')
  const [, file = '', mapping = ''] = /write into (\S+):\n\n(.*?)\n\n/s.exec(out) ?? []
  assert.equal(file, path.join('mappings', 'review.yaml'))
  await write(file, `${mapping}\n`)
  const tested = await run('test')
  assert.equal(tested.code, 0, tested.out + tested.err)
  assert.match(tested.out, /^1 passed/m)
  assert.equal((await run('lint')).code, 0)
})

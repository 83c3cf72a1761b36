import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createCommandLine } from '../../io-fixture.ts'

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

test('the configuration is named as for every other command, or by its folder', async (t) => {
  const line = await createCommandLine(t, {
    'a/prod.yaml': 'hooks: { transformsDir: ./modules }\n',
    'b/reveille.yaml': '{}\n',
  })
  const file = await line.run('init', 'transform', 'one', '--config', 'a/prod.yaml')
  assert.match(file.out, /^wrote a\/modules\/one\.ts\n/, file.err)
  assert.match(file.out, /reveille test --config a\/prod\.yaml$/m)
  const folder = await line.run('init', 'transform', 'one', 'b')
  assert.match(folder.out, /^wrote b\/transforms\/one\.ts\n/, folder.err)
  const none = await line.run('init', 'transform', 'one', '--config', 'c.yaml')
  assert.deepEqual([none.code, none.err], [2, 'There is no c.yaml.\n'])
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

test('where `npm init` has made CommonJS of everything, transforms are ES modules by a package.json of their own', async (t) => {
  const { cwd, ...line } = await createCommandLine(t, { ...files, 'package.json': '{ "type": "commonjs" }' })
  const { out } = await line.run('init', 'transform', 'review')
  assert.match(out, /^wrote transforms\/package\.json$/m)
  assert.match(out, /^ {4}transform: { module: review\.ts }$/m)
  const command = ['--test', 'transforms/review.test.ts']
  assert.match((await run(process.execPath, command, { cwd, env })).stdout, /^. pass 2$/m)
})

test('a launch.json for a debugger is written, and an existing one is kept', async (t) => {
  const { cwd, ...line } = await createCommandLine(t, files)
  const launch = path.join('.vscode', 'launch.json')
  const { written } = JSON.parse((await line.run('init', 'transform', 'a', '--json')).out)
  assert.ok(written.includes(launch))
  assert.equal(JSON.parse(await readFile(path.join(cwd, launch), 'utf8')).configurations[0].port, 9229)
  await line.write(launch, 'mine')
  await line.run('init', 'transform', 'b')
  assert.equal(await readFile(path.join(cwd, launch), 'utf8'), 'mine')
})

test('beside modules that are CommonJS for Node, a transform gets the ending of ES modules', async (t) => {
  const { cwd, ...line } = await createCommandLine(t, {
    ...files,
    'package.json': '{ "type": "commonjs" }',
    'transforms/old.js': 'module.exports = () => null\n',
  })
  const { out } = await line.run('init', 'transform', 'review')
  assert.match(out, /^ {4}transform: { module: review\.mts }$/m)
  const command = ['--test', 'transforms/review.test.mts']
  assert.match((await run(process.execPath, command, { cwd, env })).stdout, /^. pass 2$/m)
  assert.match((await line.run('init', 'transform', 'review')).out, /^transforms\/review\.mts is there/)
})

test('nothing is written over a transform, and a test that is there is kept', async (t) => {
  const { cwd, run, write } = await createCommandLine(t, {
    ...files,
    'transforms/review.test.ts': 'mine',
    'transforms/tsconfig.json': '{}',
  })
  const read = (name: string) => readFile(path.join(cwd, 'transforms', name), 'utf8')
  const first = JSON.parse((await run('init', 'transform', 'review', '--json')).out)
  assert.deepEqual(first.written, [path.join('transforms', 'review.ts'), path.join('.vscode', 'launch.json')])
  assert.equal(await read('review.test.ts'), 'mine')
  assert.equal(await read('tsconfig.json'), '{}')

  await write('transforms/review.ts', 'mine too')
  const { code, out } = await run('init', 'transform', 'review')
  assert.equal(code, 0)
  assert.equal(out, 'transforms/review.ts is there; it was left as it is.\n')
  assert.equal(await read('review.ts'), 'mine too')
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

test('a transform is written into the folder where the configuration looks for transforms', async (t) => {
  const { run } = await createCommandLine(t, {
    'local/reveille.yaml': 'hooks: { transformsDir: ../code }\n',
    'other/reveille.yaml': 'hooks: { acton: 1 }\n',
  })
  const here = JSON.parse((await run('init', 'transform', 'a', '--json')).out)
  assert.equal(here.module, path.join('code', 'a.ts'))
  const other = JSON.parse((await run('init', 'transform', 'b', 'other', '--json')).out)
  assert.equal(other.module, path.join('other', 'transforms', 'b.ts'))
})

test('a bad name, a missing one and a folder without a configuration are bad usage', async (t) => {
  const { run, cwd } = await createCommandLine(t, {})
  for (const name of ['../review', 'a b', 'a_b', '', '-', 'a'.repeat(65)]) {
    const { code, err } = await run('init', 'transform', '--', name)
    assert.equal(code, 2, name)
    assert.match(err, /is not a valid name for a transform: use at most 64 letters, digits and hyphens/)
  }
  assert.match((await run('init', 'transform', 'review.ts')).err, /Leave the ending out/)
  assert.match((await run('init', 'transform')).err, /missing required argument 'name'/)
  const nowhere = await run('init', 'transform', 'review')
  assert.equal(nowhere.code, 2)
  assert.match(
    nowhere.err,
    /no reveille\.yaml in this folder, nor in local\.\nName one .* write a first one: reveille init$/m,
  )
  assert.deepEqual(await readdir(cwd), [])
})

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

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createCommandLine } from '../io-fixture.ts'
import { scaffoldFolder, writeFirst } from './init.ts'

async function createFolder(t: TestContext, ...names: readonly string[]) {
  const cwd = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-first-')))
  t.after(() => rm(cwd, { recursive: true, force: true }))
  for (const name of names) await writeFile(path.join(cwd, name), 'mine')
  return cwd
}

/** A person who gives this answer to each question. */
function ioIn(cwd: string, answer?: 'yes' | 'no', env: Record<string, string> = {}) {
  const asked: string[] = []
  const prompts = {
    note: (text: string) => void asked.push(text),
    choose: async (message: string) => {
      asked.push(message)
      return answer ?? ''
    },
  }
  const io = { cwd, env, out: () => {}, ...(answer && { prompts: async () => prompts }) }
  return { io: io as unknown as Parameters<typeof writeFirst>[0], asked }
}

test('a folder is empty although version control, a shell or npm began with it', async (t) => {
  const cwd = await createFolder(t, 'gateway.log', 'nohup.out', 'package.json', 'package-lock.json')
  for (const name of ['.git', 'node_modules']) await mkdir(path.join(cwd, name))
  assert.ok(await writeFirst(ioIn(cwd).io, { first: true }))
  const written = await readdir(cwd)
  assert.ok(written.includes('reveille.yaml') && written.includes('.env'), String(written))
})

test('beside other files the person is asked, and --yes answers', async (t) => {
  const cwd = await createFolder(t, 'notes.txt')
  const declined = ioIn(cwd, 'no')
  await assert.rejects(writeFirst(declined.io, { first: true }), {
    exitCode: 2,
    message: 'Nothing was written.',
  })
  assert.deepEqual(await readdir(cwd), ['notes.txt'])
  assert.match(
    declined.asked.join(' '),
    /it holds other files\. Write a first configuration here, and start\?$/,
  )

  const accepted = ioIn(cwd, 'yes')
  assert.ok(await writeFirst(accepted.io, { first: true }))

  const other = await createFolder(t, 'notes.txt')
  assert.ok(await writeFirst(ioIn(other).io, { yes: true }))
})

test('beside other files and without a terminal nothing is written, and the ways on are named', async (t) => {
  const commands = await createCommandLine(t, { 'notes.txt': 'mine' })
  const { code, err } = await commands.run()
  assert.equal(code, 2)
  assert.match(err, /^There is no reveille\.yaml in .*, and it holds other files\.\nNothing was written\./)
  assert.match(err, /^ {2}reveille --yes /m)
  assert.match(err, /^ {2}reveille init DIR /m)
  assert.equal((await commands.run('start')).code, 2)
  assert.deepEqual(await readdir(commands.cwd), ['notes.txt'])
})

test('nothing is ever written to the root folder or the home folder', async (t) => {
  const home = await createFolder(t)
  const refused = {
    exitCode: 2,
    message:
      /this is the root folder or your home folder: .*\nNothing was written\. .*\n {2}mkdir ~\/reveille && cd ~\/reveille$/,
  }
  await assert.rejects(writeFirst(ioIn(home, 'yes', { HOME: home }).io, { yes: true }), refused)
  await assert.rejects(writeFirst(ioIn('/').io, { yes: true }), refused)
  assert.deepEqual(await readdir(home), [])

  const commands = await createCommandLine(t, {}, { env: { HOME: home } })
  const { code, err } = await commands.run('init', home)
  assert.equal(code, 2)
  assert.match(err, /or your home folder/)
})

test('init and start --init choose the same folder', async (t) => {
  const commands = await createCommandLine(t, { 'etc/notes.txt': 'mine' })
  const ioOf = (env: Record<string, string> = {}) => ioIn(commands.cwd, undefined, env).io
  const folders = [scaffoldFolder(ioOf()), scaffoldFolder(ioOf({ REVEILLE_CONFIG: 'etc' }))]
  assert.deepEqual(folders, [commands.cwd, path.join(commands.cwd, 'etc')])
  await commands.run('init')
  assert.ok((await readdir(commands.cwd)).includes('reveille.yaml'))
})

test('options without a command are those of start', async (t) => {
  const commands = await createCommandLine(t, {})
  const { code, err } = await commands.run('--config', 'absent.yaml')
  assert.equal(code, 2)
  assert.match(err, /^There is no absent\.yaml\./)
  assert.match((await commands.run('--help')).out, /^Usage: reveille \[options\] \[command\]/)
})

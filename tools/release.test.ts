import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { checkRelease } from './release.ts'

const packageText = (name: string, dependencies: object = {}, version = '1.2.0') =>
  JSON.stringify({ name, version, exports: { '.': './index.ts' }, dependencies })

const ready = {
  'package.json':
    '{ "version": "1.2.0", "repository": "git+https://example.org/house.git", "workspaces": ["host", "kit"] }',
  'host/package.json': packageText('@house/host', { '@house/kit': '1.2.0' }),
  'kit/package.json': packageText('@house/kit'),
  'CHANGELOG.md':
    '# Changelog\n\n## Unreleased\n\n## 1.2.0 (2026-11-22)\n\n- One.\n- Two.\n\n## 1.1.0\n\n- Old.\n',
}

async function commit(root: string, tree: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(tree)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true })
    await writeFile(path.join(root, file), text)
  }
  await git(root, 'add', '.')
  await git(root, 'commit', '--quiet', '-m', 'a change')
}

function git(root: string, ...args: readonly string[]) {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false']
  return promisify(execFile)('git', [...identity, ...args], { cwd: root })
}

async function createRepository(t: TestContext, tree: Readonly<Record<string, string>> = {}) {
  const root = await mkdtemp(path.join(tmpdir(), 'reveille-release-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  await git(root, 'init', '--quiet', '--initial-branch=main')
  await commit(root, { ...ready, ...tree })
  return root
}

async function problemsOf(root: string): Promise<readonly string[]> {
  const error = await checkRelease(root).then(
    () => assert.fail('the release is ready'),
    (reason) => reason,
  )
  assert.equal(error.code, 'RELEASE_NOT_READY', error.message)
  return error.message.split('\n').slice(1)
}

test('a repository that is ready has a tag', async (t) => {
  assert.equal(await checkRelease(await createRepository(t)), 'v1.2.0')
})

test('the change log needs a section of the version with entries, and none that are unreleased', async (t) => {
  const root = await createRepository(t, { 'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n- New.\n' })
  assert.deepEqual(await problemsOf(root), [
    '- CHANGELOG.md has no section "## 1.2.0".',
    '- CHANGELOG.md has 1 entries under "## Unreleased"; move them to "## 1.2.0".',
  ])
  await commit(root, { 'CHANGELOG.md': '# Changelog\n\n## 1.2.0\n\n## 1.1.0\n\n- Old.\n' })
  assert.deepEqual(await problemsOf(root), ['- The section "## 1.2.0" of CHANGELOG.md has no entries.'])
})

test('all workspaces have the version of the repository', async (t) => {
  const root = await createRepository(t, {
    'host/package.json': packageText('@house/host', { '@house/kit': '1.1.0' }),
    'kit/package.json': packageText('@house/kit', {}, '1.1.0'),
  })
  assert.deepEqual(await problemsOf(root), [
    '- kit/package.json has version 1.1.0, and package.json has 1.2.0.',
  ])
})

test('a package names its repository', async (t) => {
  const root = await createRepository(t, {
    'package.json': '{ "version": "1.2.0", "workspaces": ["host", "kit"] }',
  })
  assert.deepEqual(await problemsOf(root), [
    '- package.json has no "repository": npm compares it with the origin of a package.',
  ])
})

test('a commit with the tag of its version can be published from any branch', async (t) => {
  const root = await createRepository(t)
  await git(root, 'tag', 'v1.2.0')
  await git(root, 'checkout', '--quiet', '--detach')
  assert.equal(await checkRelease(root), 'v1.2.0')
})

test('everything is committed on main, and the tag is not at another commit', async (t) => {
  const root = await createRepository(t)
  await git(root, 'tag', 'v1.2.0')
  await commit(root, { 'more.txt': 'more' })
  await git(root, 'checkout', '--quiet', '-b', 'work')
  await writeFile(path.join(root, 'notes.txt'), 'not committed')
  assert.deepEqual(await problemsOf(root), [
    '- 1 files are not committed; `git status` lists them.',
    '- Releases are made from main, and this is work.',
    '- The tag v1.2.0 is at another commit; raise the version in every package.json.',
  ])
})

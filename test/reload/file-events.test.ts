/**
 * Tests the ways in which files are changed, each with a whole gateway, which must end up serving what the files say.
 */

import assert from 'node:assert/strict'
import { cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { RunRecord } from '../../runtime/store/port.ts'
import { configuration, type Files, hookToken, install, until } from '../installation.ts'

const limit = { timeout: 60_000 }

/** A mapping with one word in two places, so that a mix of two versions would show. */
function mapping(word: string, path = 'bell'): string {
  return `mappings:\n  - match: { path: ${path} }\n    name: ${word}\n    message: ${word}\n    deliver: false\n`
}

/** Starts a gateway that watches its files, and returns its answers. */
async function watchGateway(t: TestContext, files: Files) {
  const installed = await install(t, files, { watch: true })
  const { folder, post, read } = installed

  async function word(path: string): Promise<unknown> {
    const { status, body } = await post(`/hooks/${path}`, {})
    if (status !== 202) return status
    const { name, message } = await read<RunRecord>(`/api/runs/${body['runId']}`)
    assert.equal(name, message)
    return message
  }

  return {
    ...installed,
    at: (name: string) => join(folder, name),
    /** Waits until an endpoint answers the word or the status. */
    says: (expected: string | number, path = 'bell') =>
      until(async () => ((await word(path)) === expected ? true : undefined), `${path} says ${expected}`),
  }
}

test('a checkout that changes 200 files goes live', limit, async (t) => {
  const names = Array.from({ length: 200 }, (_, index) => `mappings/team-${index % 9}/${index}.yaml`)
  const branch = (word: string) =>
    Object.fromEntries(names.map((name, index) => [name, mapping(word, `bell-${index}`)]))
  const { at, says, gateway, lines } = await watchGateway(t, branch('main'))
  const checkOut = async (files: Files) => {
    for (const [name, content] of Object.entries(files)) {
      await rm(at(name), { force: true })
      await writeFile(at(name), content)
    }
  }
  await checkOut(branch('feature'))
  for (const index of [199, 0, 100]) await says('feature', `bell-${index}`)
  assert.equal(lines('snapshot-swapped').at(-1)?.['mappings'], 200)

  await rm(at('mappings/team-3'), { recursive: true })
  await says(404, 'bell-3')
  await says('feature', 'bell-199')
  t.diagnostic(`${gateway.current().generation} generations`)
})

test('a mounted ConfigMap that is swapped goes live', limit, async (t) => {
  const mounted = `${configuration}\n`.replace('hooks: {', 'hooks: { mappingsDir: ./mount, ')
  const { at, says, folder } = await watchGateway(t, {
    'reveille.yaml': mounted,
    'mount/..2026_1/bell.yaml': mapping('version-1'),
  })
  const mount = async (version: number) => {
    const next = at(`mount/..2026_${version}`)
    await mkdir(next, { recursive: true })
    await writeFile(join(next, 'bell.yaml'), mapping(`version-${version}`))
    await symlink(`..2026_${version}`, at('mount/..data_tmp'))
    await rename(at('mount/..data_tmp'), at('mount/..data'))
    await rm(at(`mount/..2026_${version - 1}`), { recursive: true, force: true })
  }
  await mount(2)
  await symlink('..data/bell.yaml', at('mount/bell.yaml'))
  await says('version-2')
  for (const version of [3, 4, 5]) {
    await mount(version)
    await says(`version-${version}`)
  }
  // The configuration itself becomes a link too.
  await mkdir(at('config/one'), { recursive: true })
  await mkdir(at('config/two'), { recursive: true })
  const written = mounted.replaceAll('{folder}', folder)
  await writeFile(at('config/one/reveille.yaml'), written)
  await writeFile(at('config/two/reveille.yaml'), written.replace('./mount', './elsewhere'))
  await symlink('one', at('config/current'))
  await symlink('config/current/reveille.yaml', at('link'))
  await rename(at('link'), at('reveille.yaml'))
  await mkdir(at('elsewhere'))
  await writeFile(at('elsewhere/bell.yaml'), mapping('elsewhere'))
  await symlink('two', at('config/next'))
  await rename(at('config/next'), at('config/current'))
  await says('elsewhere')
})

test('folders that are deleted and made again, or moved, go live', limit, async (t) => {
  const { at, says } = await watchGateway(t, {
    'reveille.yaml': configuration.replace('hooks: {', 'hooks: { mappingsDir: ./conf/live, '),
    'conf/live/bell.yaml': mapping('first'),
  })
  await rm(at('conf/live'), { recursive: true })
  await mkdir(at('conf/live'))
  await writeFile(at('conf/live/bell.yaml'), mapping('created-again'))
  await says('created-again')

  for (const [folder, word] of [
    ['conf/live', 'moved-over'],
    ['conf', 'moved-over-from-above'],
  ] as const) {
    await cp(at(folder), at('next'), { recursive: true })
    await writeFile(at(folder === 'conf' ? 'next/live/bell.yaml' : 'next/bell.yaml'), mapping(word))
    await rename(at(folder), at(`previous-${word}`))
    await rename(at('next'), at(folder))
    await says(word)
  }

  await rm(at('conf'), { recursive: true })
  await mkdir(at('conf/live'), { recursive: true })
  await writeFile(at('conf/live/bell.yaml'), mapping('from-nothing'))
  await says('from-nothing')
})

test(
  'a change of anything that a transform imports goes live: siblings, packages and missing files',
  limit,
  async (t) => {
    const call = `mappings:\n  - match: { path: bell }\n    name: x\n    message: x\n    deliver: false\n    transform: { module: say.ts }\n`
    const sibling = (word: string) => `export const word = '${word}'\n`
    const answer = `export default () => ({ name: word, message: word })\n`
    const { at, says, write, line, lines } = await watchGateway(t, {
      'mappings/bell.yaml': call,
      'transforms/say.ts': `import { word } from './lib/word.ts'\n${answer}`,
      'transforms/lib/word.ts': sibling('sibling'),
      'transforms/node_modules/left/index.js': sibling('package'),
    })
    await says('sibling')
    await write('transforms/lib/word.ts', sibling('sibling-edited'))
    await says('sibling-edited')
    await write('transforms/say.ts', `import { word } from 'left'\n${answer}`)
    await says('package')
    await write('transforms/node_modules/left/index.js', sibling('package-edited'))
    await says('package-edited')
    await rename(at('transforms/node_modules/left'), at('transforms/node_modules/.left'))
    await write('transforms/node_modules/left/index.js', sibling('installed-again'))
    await says('installed-again')

    await write('transforms/say.ts', `import { word } from './late.ts'\n${answer}`)
    await line('candidate-rejected')
    await says('installed-again')
    await write('transforms/late.ts', sibling('late'))
    await says('late')
    // At most one reload for the first set of paths and one for each change of it: reading files must not cause
    // another reload.
    assert.ok(lines('content-unchanged').length <= 8, `${lines('content-unchanged').length} loads in vain`)
  },
)

test('without file events the files are polled', limit, async (t) => {
  const { write, says } = await watchGateway(t, {
    'reveille.yaml': configuration.replace('hooks: {', 'hooks: { reload: { poll: true }, '),
    'mappings/bell.yaml': mapping('first'),
  })
  await write('mappings/bell.yaml', mapping('polled'))
  await says('polled')
})

test(
  'variables, secret files and folders that the configuration begins to name are watched at once',
  limit,
  async (t) => {
    const { says, write } = await watchGateway(t, {
      '.env': 'FOLDER=one\n',
      secret: `${hookToken}\n`,
      'one/bell.yaml': mapping('one'),
      'two/bell.yaml': mapping('two'),
    })
    await says(404)
    const named = configuration.replace('hooks: {', 'hooks: { mappingsDir: "${FOLDER}", ')
    await write('reveille.yaml', named.replace(`token: ${hookToken}`, 'token: "${file:secret}"'))
    await says('one')
    await write('.env', 'FOLDER=two\n')
    await says('two')
    await write('two/bell.yaml', mapping('edited'))
    await says('edited')
    await write('secret', 'another-hook-token-0123456789abcdef\n')
    await says(401)
  },
)

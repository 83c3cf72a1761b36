import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGenerationFiles } from './generation-files.ts'
import type { AdminOptions } from './options.ts'

const generations: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  1: {
    '/etc/reveille/reveille.yaml': 'port: 1',
    '/etc/reveille/mappings/a.yaml': 'a',
    '/usr/presets/github.yaml': 'g',
  },
  2: {
    '/etc/reveille/reveille.yaml': 'port: 1',
    '/etc/reveille/mappings/b.yaml': 'b',
    '/usr/presets/github.yaml': 'h',
  },
  3: { '/etc/reveille/reveille.yaml': `# ${'x'.repeat(300_000)}` },
}

const files = createGenerationFiles({
  archive: {
    read: async (number: number) =>
      generations[number] && {
        sources: new Map(Object.entries(generations[number])),
        digest: '',
        bundles: new Map(),
      },
  },
  current: () => ({ snapshot: { settings: { file: '/etc/reveille/reveille.yaml' } } }),
  withoutSecrets: async (_file: string, text: string) => text.toUpperCase(),
} as unknown as AdminOptions)

test('two generations are compared file by file, and files that are the same are left out', async () => {
  assert.deepEqual(await files.compare(1, 2), [
    { path: '/etc/reveille/mappings/a.yaml', name: 'mappings/a.yaml', change: 'removed', before: 'A' },
    { path: '/etc/reveille/mappings/b.yaml', name: 'mappings/b.yaml', change: 'added', after: 'B' },
    {
      path: '/usr/presets/github.yaml',
      name: '/usr/presets/github.yaml',
      change: 'changed',
      before: 'G',
      after: 'H',
    },
  ])
  assert.deepEqual(await files.compare(2, 2), [])
  assert.equal(await files.compare(1, 9), undefined)
})

test('a file that is too long is named without its text', async () => {
  const [, config] = (await files.compare(1, 3)) ?? []
  assert.deepEqual(config, {
    path: '/etc/reveille/reveille.yaml',
    name: 'reveille.yaml',
    change: 'changed',
    isCut: true,
  })
  assert.deepEqual(await files.read(3, 'reveille.yaml'), {
    path: '/etc/reveille/reveille.yaml',
    name: 'reveille.yaml',
  })
})

test('one file is read by its path, by its name, or by the name of its preset, and no file that is not kept', async () => {
  for (const asked of ['/etc/reveille/mappings/a.yaml', 'mappings/a.yaml']) {
    assert.equal((await files.read(1, asked))?.text, 'A')
  }
  assert.equal((await files.read(1, 'preset github'))?.text, 'G')
  for (const asked of ['/etc/passwd', '../reveille.yaml', 'mappings/b.yaml', ''])
    assert.equal(await files.read(1, asked), undefined)
})

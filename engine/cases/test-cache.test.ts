import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Configuration } from '../config/configuration.ts'
import { createSampleFolder } from '../config/folder-fixture.ts'
import { createLoader } from '../config/load.ts'
import type { Bundle } from '../transform/port.ts'
import type { TestResult } from './run-tests.ts'
import { createTestCache } from './test-cache.ts'

const files = {
  'reveille.yaml': 'hooks: { transformsDir: code }\n',
  'mappings/a.yaml': `mappings:
  - { id: a, match: { path: a }, transform: { module: a.ts, with: { key: "\${file:key}" } } }
tests:
  - { name: of a, request: { endpoint: a }, expect: { mapping: a } }
`,
  'mappings/b.yaml': `mappings:
  - { id: b, match: { path: b }, message: b }
  - { id: any, match: { path: ":name/x" }, message: any }
tests:
  - { name: of b, request: { endpoint: b }, expect: { mapping: b } }
`,
  key: 'one',
}

async function createBench(t: TestContext) {
  const folder = await createSampleFolder(t, files)
  const loader = createLoader({ file: folder.at('reveille.yaml'), env: {} })
  t.after(() => loader.close())
  const openCache = createTestCache()
  let digest = 'd1'
  const failing = new Set<string>()
  /** Returns the tests that are run; all but the failing ones pass. */
  async function run(): Promise<readonly string[]> {
    const loaded = await loader.load()
    assert.ok(loaded.ok, JSON.stringify(loaded))
    const { configuration } = loaded
    const bundle: Bundle = { module: 'a.ts', digest, file: '' }
    const cache = openCache({ configuration, bundles: new Map([['a.ts', bundle]]) })
    return configuration.tests.flatMap((each: Configuration['tests'][number]) => {
      const known = cache.get(each)
      if (known) {
        assert.equal(known.test, each, 'its places are those of the last load')
        return []
      }
      const passed = !failing.has(each.value.name)
      cache.put({ test: each, passed, mismatches: [], calls: [], unmatched: [] } satisfies TestResult)
      return each.value.name
    })
  }
  const bundleAs = (made: string) => {
    digest = made
  }
  return { run, write: folder.write, failing, bundleAs }
}

test('a test that passed is not run again before one of its inputs changes', async (t) => {
  const { run, write, bundleAs, failing } = await createBench(t)
  const changed = (name: 'mappings/a.yaml' | 'mappings/b.yaml', before: string, after: string) =>
    write(name, files[name].replace(before, after))
  for (const [what, change, ...wanted] of [
    ['at first', () => {}, 'of a', 'of b'],
    ['nothing', () => {}],
    [
      'the mapping of another endpoint',
      () => changed('mappings/b.yaml', 'message: b', 'message: other'),
      'of b',
    ],
    ['its module', () => bundleAs('d2'), 'of a'],
    ['a parameter of its transform', () => write('key', 'two'), 'of a'],
    ['the test', () => changed('mappings/a.yaml', 'mapping: a', 'outcome: accepted'), 'of a'],
    [
      'a mapping that may cover any endpoint',
      () => changed('mappings/b.yaml', 'message: any', 'message: all'),
      'of a',
      'of b',
    ],
    [
      'a policy of its endpoint',
      () => write('mappings/c.yaml', 'endpoints: { b: { maxBodyBytes: 100 } }\n'),
      'of b',
    ],
    [
      'a setting',
      () => write('reveille.yaml', 'hooks: { transformsDir: code, maxActions: 7 }\n'),
      'of a',
      'of b',
    ],
    ['one that failed', () => {}, 'of b'],
  ] as const) {
    await change()
    if (what === 'a setting') failing.add('of b')
    assert.deepEqual(await run(), wanted, what)
  }
})

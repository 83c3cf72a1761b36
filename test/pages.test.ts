/** Tests that links between pages lead somewhere, and that the files which the tour of the code names exist. */

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { providerRows } from '../engine/providers/index.ts'
import { readSections } from '../tools/markdown-page.ts'
import { floors } from './architecture.ts'

const root = join(import.meta.dirname, '..')
const folders = [
  ...[
    'docs',
    'engine',
    'runtime',
    'plugins',
    'mappings',
    'transforms',
    'console',
    'test',
    'tools',
    '.github',
  ],
]
const pages = [
  ...globSync('*.md', { cwd: root }),
  ...folders.flatMap((folder) =>
    globSync(`${folder}/**/*.md`, {
      cwd: root,
      exclude: (name) => name === 'node_modules' || name === 'corpus',
    }),
  ),
]

test('every link from a page to a file of the repository leads to a file, and to a heading where it names one', () => {
  assert.ok(pages.length > 40)
  assert.deepEqual(pages.flatMap(brokenLinks), [])
})

test('the README has fewer than 200 lines, so that a newcomer reads all of it', () => {
  assert.ok(read('README.md').split('\n').length < 200)
})

test('pages count the providers and presets as they are', () => {
  const presets = globSync('mappings/*.yaml', { cwd: root }).length
  for (const [page, count] of [
    ['README.md', `${presets} presets`],
    ['README.md', `[${providerRows.length} providers]`],
    ['docs/openclaw.md', `${presets - 1} presets besides`],
  ] as const)
    assert.ok(read(page).includes(count), `${page} does not say "${count}"`)
})

test('every page of docs/ is linked from the README', () => {
  const readme = read('README.md')
  const missing = globSync('docs/**/*.md', { cwd: root }).filter((page) => !readme.includes(`](${page})`))
  assert.deepEqual(missing, [])
})

for (const page of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
  test(`every file and folder that ${page} names exists`, () => {
    const named = [...withoutBlocks(page).matchAll(/`([\w.@-]+(?:\/[\w.@-]+)*\/?)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => path.includes('/') && !path.startsWith('@') && !/^(local|build)\//.test(path))
    assert.ok(named.length > 20)
    assert.deepEqual(
      named.filter((path) => !existsSync(join(root, path))),
      [],
    )
  })
}

test('ARCHITECTURE.md lists the rooms in the order of their floors', () => {
  const [, engine = '', runtime = ''] =
    /## Floors.*?```\n(.*?)```.*?```\n(.*?)```/s.exec(read('ARCHITECTURE.md')) ?? []
  for (const [half, text] of Object.entries({ engine, runtime })) {
    const shown = text.split('\n').map((line) => line.split('  ')[0]?.split(', ') ?? [])
    const rooms = (floors[half] ?? []).map((floor) => floor.map((room) => room.replace(/\/$/, '')))
    const floorOf = (room: string) => shown.findIndex((floor) => floor.includes(room))
    const places = rooms.map((floor) => floor.filter((room) => !isSmallFile(room)).map(floorOf))
    assert.deepEqual(
      places,
      rooms.map((floor, index) => floor.filter((room) => !isSmallFile(room)).map(() => index)),
    )
  }
})

/** The page sums up the files beside the rooms, except those that stand alone on a floor. */
function isSmallFile(room: string): boolean {
  return room.endsWith('.ts') && !['index.ts', 'gateway.ts', 'main.ts'].includes(room)
}

function brokenLinks(page: string): string[] {
  const links = [...withoutBlocks(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return links.flatMap((link) => {
    if (/^[a-z]+:/.test(link)) return []
    const [path = '', anchor] = link.split('#')
    const file = path === '' ? page : relative(root, resolve(root, dirname(page), path))
    if (!existsSync(join(root, file))) return [`${page}: ${link}`]
    if (anchor === undefined || !file.endsWith('.md')) return []
    return readSections(read(file)).some((section) => section.anchor === anchor) ? [] : [`${page}: ${link}`]
  })
}

/** Returns a page without its code blocks, and without code in which a bracket could look like a link. */
function withoutBlocks(page: string): string {
  return read(page).replace(/^```.*?^```$/gms, '')
}

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

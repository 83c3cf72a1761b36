/** Tests that what pages name exists: links, commands with their options, npm scripts, and the files of the tour of the code. */

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { floors } from '../.dependency-cruiser.ts'
import { providerRows } from '../engine/providers/index.ts'
import { createProgram } from '../runtime/cli/cli.ts'
import { processIo } from '../runtime/cli/io.ts'
import { setupRows } from '../runtime/cli/webhooks/commands.ts'
import { readSections } from '../tools/markdown-page.ts'

const root = join(import.meta.dirname, '..')
const ignored = new Set(['node_modules', 'build', 'local', 'corpus'])
const pages = [
  ...globSync('{*,.github/**/*}.md', { cwd: root }),
  ...globSync('*/**/*.md', { cwd: root, exclude: isIgnored }),
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
    ['docs/trust.md', `[${providerRows.length} providers]`],
    ['docs/openclaw.md', `${presets - 1} presets besides`],
  ] as const)
    assert.ok(read(page).includes(count), `${page} does not say "${count}"`)
})

test('every command that a page shows exists, with the options that it shows', () => {
  const program = createProgram(processIo(), { exitCode: 0 }, setupRows())
  const shown = pages.filter((page) => page !== 'CHANGELOG.md').flatMap(commandLines)
  assert.ok(shown.length > 100, `${shown.length} command lines`)
  const wrong = shown.flatMap(({ page, words }) => {
    const problem = problemOf(program, words)
    return problem === undefined ? [] : [`${page}: reveille ${words.join(' ')}: ${problem}`]
  })
  assert.deepEqual(wrong, [])
})

test('every npm script that a page shows exists', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const shown = pages.flatMap((page) =>
    codeOf(page).flatMap((code) =>
      [...code.matchAll(/\bnpm run (?!-)([\w:-]+)/g)].map(([, script = '']) => ({ page, script })),
    ),
  )
  assert.ok(shown.length > 10)
  assert.deepEqual(
    shown.filter(({ script }) => !Object.hasOwn(scripts, script)),
    [],
  )
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

/** The page sums up the files beside the rooms, except those that are alone on a floor. */
function isSmallFile(room: string): boolean {
  return room.endsWith('.ts') && !['index.ts', 'gateway.ts', 'main.ts'].includes(room)
}

function isIgnored(file: string): boolean {
  return ignored.has(basename(file))
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

/** Finds `reveille WORD …` in a page's code. Quoted arguments are left out, and so is what a shell would not pass on. */
function commandLines(page: string): { page: string; words: string[] }[] {
  return codeOf(page).flatMap((code) =>
    [...code.matchAll(/(?:^|[\s(])reveille ([^\n]+)/g)].map(([, line = '']) => ({
      page,
      words: line
        .replace(/"[^"]*"|'[^']*'/g, 'QUOTED')
        .replace(/\s*(?:[|;&)>]|\s#).*$/, '')
        .trim()
        .split(/\s+/),
    })),
  )
}

type Command = ReturnType<typeof createProgram>

function problemOf(program: Command, words: readonly string[]): string | undefined {
  // Without a command it is `start`.
  const isStart = words[0]?.startsWith('--') && words[0] !== '--help' && words[0] !== '--version'
  let command: Command = program.commands.find((each) => isStart && each.name() === 'start') ?? program
  let rest = words
  for (const word of words) {
    const below = command.commands.find((each) => each.name() === word)
    if (below === undefined) break
    command = below
    rest = rest.slice(1)
  }
  const [next = ''] = rest
  const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0
  if (isGroup && /^[a-z]/.test(next)) return `there is no command ${next}`
  const options = ['--help', ...command.options.map(({ long }) => long)]
  const unknown = rest.find((word) => word.startsWith('--') && !options.includes(word.replace(/=.*/, '')))
  return unknown && `${command.name()} has no option ${unknown}`
}

/** Lists the code of a page: each line of its shell blocks, with the lines that continue it, and each inline code. */
function codeOf(page: string): string[] {
  const blocks = [...read(page).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
  const lines = blocks.flatMap((block) => block.replace(/\\\n\s*/g, '').split('\n'))
  const inline = [...withoutBlocks(page).matchAll(/`([^`]+)`/g)].map(([, code = '']) =>
    code.replace(/\s+/g, ' '),
  )
  return [...lines, ...inline]
}

/** Returns a page without its code blocks, and without code in which a bracket could look like a link. */
function withoutBlocks(page: string): string {
  return read(page).replace(/^```.*?^```$/gms, '')
}

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}
